// The summary: finds cases by a word and by their verdict, sorts them, and opens what is found.
for (const filter of document.querySelectorAll("#summary .filter")) {
  const summary = filter.parentElement, find = filter.querySelector("input");
  const [verdict, order] = filter.querySelectorAll("select");
  const rows = [...summary.querySelectorAll("tr[data-verdict]")];
  const folds = [...summary.querySelectorAll("details")], were = folds.map((fold) => fold.open);
  const words = new Map(rows.map((row) => {
    const scenario = row.closest(".scenario").querySelector("summary b").textContent;
    return [row, `${scenario} ${row.textContent}`.toLowerCase()];
  }));
  filter.hidden = false;
  for (const word of new Set(rows.map((row) => row.dataset.verdict))) verdict.append(new Option(word.toLowerCase(), word));
  const seek = () => {
    const word = find.value.trim().toLowerCase(), isSought = word !== "" || verdict.value !== "";
    for (const row of rows) {
      row.hidden = !words.get(row).includes(word) || (verdict.value !== "" && row.dataset.verdict !== verdict.value);
    }
    folds.forEach((fold, place) => {
      fold.hidden = fold.querySelector("tr[data-verdict]:not([hidden])") === null;
      fold.open = isSought || were[place];
    });
  };
  const name = (element) => element.querySelector("summary b").textContent;
  const seeds = (element) => Math.max(...[...element.querySelectorAll("td:nth-child(3)")].map((cell) => parseInt(cell.textContent, 10)));
  const worst = (element) => Math.max(...[...element.querySelectorAll("[data-rank]")].map((row) => Number(row.dataset.rank)));
  const by = {
    verdict: (one, other) => worst(other) - worst(one) || name(one).localeCompare(name(other)),
    name: (one, other) => name(one).localeCompare(name(other)),
    seeds: (one, other) => seeds(other) - seeds(one) || name(one).localeCompare(name(other)),
  };
  const sort = () => {
    for (const parent of [summary, ...summary.querySelectorAll(".folder")]) {
      const parts = [...parent.children].filter((child) => child.matches("details"));
      parent.append(...parts.sort(by[order.value]));
    }
  };
  find.addEventListener("input", seek);
  verdict.addEventListener("change", seek);
  order.addEventListener("change", sort);
}
// A link to a run that is folded opens it.
function unfold() {
  const target = location.hash && document.getElementById(location.hash.slice(1));
  if (!target) return;
  for (let fold = target.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
  target.scrollIntoView();
}
addEventListener("hashchange", unfold);
unfold();
