// Links between the sentences of a story and its diagram: a time or a letter leads to its mark, and a mark to the
// sentences that name its time.
function linkSentences(view) {
  const section = view.element.closest("section");
  if (!section) return () => {};
  const links = [...section.querySelectorAll("a[data-at]")];
  const { marks } = view.model;
  const milliseconds = (micros) => Math.floor(micros / 1000);
  const ofTime = (link) => {
    const time = Number(link.dataset.at);
    const there = marks.filter((mark) => mark.lane >= 0 && milliseconds(mark.at) === milliseconds(time));
    there.sort((one, other) => other.weight - one.weight);
    return there[0] || marks.find((mark) => mark.at >= time);
  };
  const ofName = (link) => {
    const color = Number(link.dataset.who), lane = view.model.lanes.findIndex((lane) => lane.kind === LANE.contender && lane.color === color);
    const own = marks.filter((mark) => mark.lane === lane);
    return own.find((mark) => mark.weight === 2) || own[0];
  };
  const go = (event, mark) => {
    if (!mark) return;
    event.preventDefault();
    view.select(marks.indexOf(mark));
    view.canvas.scrollIntoView({ block: "nearest" });
    view.canvas.focus({ preventScroll: true });
  };
  for (const link of section.querySelectorAll("a[data-event]")) {
    link.addEventListener("click", (event) => go(event, marks[view.model.markOfEvent(Number(link.dataset.event))]));
  }
  for (const link of links) link.addEventListener("click", (event) => go(event, ofTime(link)));
  for (const link of section.querySelectorAll("a[data-who]")) link.addEventListener("click", (event) => go(event, ofName(link)));
  // Marks the sentences that name the time of what is chosen, and answers the first of them.
  return (mark) => {
    let first = null;
    for (const link of links) {
      const isHere = mark !== undefined && milliseconds(Number(link.dataset.at)) === milliseconds(mark.at);
      link.classList.toggle("here", isHere);
      if (isHere && !first) first = link;
    }
    return first;
  };
}

// Buttons that show and hide lanes.
function laneTools(view) {
  const list = make("div", "tools lanes"), { lanes } = view.model, story = view.story;
  list.append(make("span", "count", "Lanes:"));
  lanes.forEach((lane, index) => {
    const button = make("button", "", `${lane.letter} ${lane.name}`.trim());
    button.type = "button";
    button.addEventListener("click", () => {
      story.hiddenLanes.has(index) ? story.hiddenLanes.delete(index) : story.hiddenLanes.add(index);
      view.relay();
    });
    list.append(button);
  });
  view.lanesShown = () => {
    [...list.querySelectorAll("button")].forEach((button, index) => {
      button.setAttribute("aria-pressed", String(!story.hiddenLanes.has(index)));
    });
  };
  view.lanesShown();
  return list;
}
