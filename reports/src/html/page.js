// What the page does: makes a diagram when it comes into view, and lets texts be copied and saved.
const TOOLS = [
  ["before", "◂ Before", "The event before (left arrow)"], ["next", "Next ▸", "The next event (right arrow)"],
  ["closer", "+", "Closer (+)"], ["wider", "−", "Wider (-)"], ["all", "All", "The whole of it (0)"],
  ["focus", "Story", "The rows of the story alone (f)"], ["breach", "Violation", "Where the promise breaks (v)"],
  ["past", "Causal past", "What it can have depended on, alone (c)"],
  ["servers", "Between servers", "Messages between servers (s)"], ["scale", "To scale", "Time to scale (t)"],
];
const KEYS = "Keys: ← → events, ↑ ↓ events of the lane, shift ← → move, + − zoom, 0 all, f story, v violation, " +
  "c causal past, s between servers, t to scale. Drag to move, ctrl and wheel or pinch to zoom.";

function make(name, className, text) {
  const element = document.createElement(name);
  if (className) element.className = className;
  if (text) element.textContent = text;
  return element;
}

function legend(model) {
  const list = make("div", "legend");
  const has = (kind) => model.arrows.some((arrow) => arrow.kind === kind && arrow.end === END.arrives);
  const ends = (end) => model.arrows.some((arrow) => arrow.end === end);
  const keys = [
    [has(ARROW.request) || has(ARROW.answer), "muted", "solid", "request, answer"],
    [has(ARROW.notification), "notice", "solid", "notification"],
    [has(ARROW.servers), "faint", "solid", "between servers"],
    [has(ARROW.write), "muted", "dashed", "write to the resource"],
    [ends(END.lost), "bad", "solid", "never arrives"],
    [ends(END.underWay), "muted", "dotted", "still under way at the right edge"],
    [model.spans.some((span) => !span.calm), "fault", "dashed", "fault"],
    [model.spans.some((span) => span.goesOn), "muted", "none", "▸ goes on beyond the right edge"],
  ];
  for (const [there, color, style, text] of keys) {
    if (!there) continue;
    const key = make("span", "", "");
    const line = make("i");
    line.style.color = `var(--${color})`;
    line.style.borderTopStyle = style;
    key.append(line, text);
    list.append(key);
  }
  list.append(make("span", "axis"));
  return list;
}

// What the axis means, as it is now.
const AXIS = {
  true: "the axis is to scale: times have as much width as they last",
  false: "the longer nothing happens, the more the axis is shortened",
};

function start(element) {
  const data = JSON.parse(document.getElementById("data-" + element.dataset.run).textContent);
  const model = new Model(data);
  element.hidden = false;
  element.parentElement.classList.add("drawn");
  const tools = make("div", "tools"), buttons = {};
  for (const [name, text, title] of TOOLS) {
    const button = make("button", "", text);
    button.type = "button";
    button.title = title;
    button.dataset.do = name;
    buttons[name] = button;
    tools.append(button);
  }
  element.append(tools);
  const view = new View(element, model);
  element.insertBefore(laneTools(view), view.canvas);
  const sentences = linkSentences(view);
  const now = make("div", "now");
  now.setAttribute("aria-live", "polite");
  element.append(legend(model), now, make("p", "keys", KEYS));
  const axis = element.querySelector(".axis");
  view.scaled = (on) => { axis.textContent = AXIS[on]; };
  view.scaled(false);
  wire(view, buttons);
  view.told = () => tell(view, now, sentences);
  view.told();
  view.draw();
  return view;
}

function wire(view, buttons) {
  const toggle = (name, on, act) => {
    const button = buttons[name];
    button.setAttribute("aria-pressed", String(on));
    button.addEventListener("click", () => {
      const pressed = button.getAttribute("aria-pressed") !== "true";
      button.setAttribute("aria-pressed", String(pressed));
      act(pressed);
    });
  };
  buttons.before.addEventListener("click", () => view.step(-1));
  buttons.next.addEventListener("click", () => view.step(1));
  buttons.closer.addEventListener("click", () => view.zoomBy(1.5));
  buttons.wider.addEventListener("click", () => view.zoomBy(1 / 1.5));
  buttons.all.addEventListener("click", () => view.showAll());
  buttons.focus.addEventListener("click", () => view.showStory());
  buttons.breach.addEventListener("click", () => view.showBreach());
  buttons.breach.hidden = !view.model.breach;
  buttons.servers.hidden = !view.model.arrows.some((arrow) => arrow.kind === ARROW.servers);
  toggle("past", false, (on) => view.setPast(on));
  toggle("servers", true, (on) => view.setServers(on));
  toggle("scale", false, (on) => { view.toScale(on); view.scaled(on); });
}

// Says in words what is chosen.
function tell(view, now, sentences) {
  const { marks } = view.model, mark = marks[view.selected], sentence = sentences(mark);
  now.replaceChildren();
  if (!mark) {
    now.append(make("span", "count", `${marks.length} events. Choose one, or press the right arrow.`));
    return;
  }
  const place = view.past === null ? "" : `, ${view.past.marks.size} in the causal past`;
  now.append(make("b", "", exact(mark.at)), " " + mark.text + " ",
    make("span", "count", `(${view.selected + 1} of ${marks.length}${place})`));
  if (sentence) {
    const back = make("button", "", "In the story");
    back.type = "button";
    back.addEventListener("click", () => { sentence.scrollIntoView({ block: "center" }); sentence.focus(); });
    now.append(" ", back);
  }
  now.append(make("div", "count", view.story.stateAt(mark)));
}

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // A page from a disk may have no clipboard of its own.
    const area = make("textarea");
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
}

function textOf(button, name) {
  const place = button.dataset[name];
  return (place ? document.getElementById(place) : button.previousElementSibling).textContent;
}

const views = new Map();
const seen = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) {
    if (!isIntersecting) continue;
    seen.unobserve(target);
    target.querySelectorAll(".live").forEach((element) => views.set(element, start(element)));
  }
}, { rootMargin: "600px" });
document.querySelectorAll("figure").forEach((figure) => seen.observe(figure));
new ResizeObserver(() => views.forEach((view) => view.resize())).observe(document.body);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => views.forEach((view) => {
  view.recolor();
  view.draw();
}));
document.querySelectorAll("button[data-copy]").forEach((button) => {
  button.hidden = false;
  button.addEventListener("click", () => copy(textOf(button, "copy")).then(() => { button.textContent = "Copied"; }));
});
document.querySelectorAll("button[data-save]").forEach((button) => {
  button.hidden = false;
  button.addEventListener("click", () => {
    const link = make("a");
    link.href = URL.createObjectURL(new Blob([textOf(button, "save")], { type: "application/toml" }));
    link.download = button.dataset.name;
    link.click();
    URL.revokeObjectURL(link.href);
  });
});
