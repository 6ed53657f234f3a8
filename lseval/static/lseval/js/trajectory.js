/* The trajectory of a run: steps along its rounds by button or key, one round and one group selected at a time, the
   arcs and the words between them painted. Everything here is also a link on the page; nothing is only here. */

const root = document.querySelector("[data-trajectory]");
const bar = root?.querySelector(".steps");
const LEAST_LETTERS = 4;
const MOST_RANGES = 3000;
const WORD = /[\p{L}\p{N}_]+/gu;
const ADDRESS = /https?:\/\/[^\s)\]>|]+/g;

let group = null;

const rounds = () => [...root.querySelectorAll(".round")];
const groups = () => [...document.querySelectorAll(".group[data-number]")];
const current = () => root.querySelector('.round[aria-current="true"]');

/** The rounds that led to a group, or all. */
function leading(to) {
  if (!to) return rounds();
  return rounds().filter((round) => (round.dataset.groups ?? "").split(" ").includes(to.dataset.number));
}

function go(round) {
  if (!round) return;
  mark(round); // at once, since the address changes later and the next key may come before
  location.replace(`#${round.id}`); // a fragment of its own, and no entry in the history for each step
  round.querySelector(".round-number").focus({ preventScroll: true });
}

function step(direction, list) {
  if (!list.length) return say("There is none.");
  const all = rounds();
  const here = current() ? all.indexOf(current()) : direction > 0 ? -1 : all.length;
  const next = direction > 0 ? list.find((round) => all.indexOf(round) > here) : list.findLast((round) => all.indexOf(round) < here);
  if (next) go(next);
  else say(direction > 0 ? "That was the last one." : "That was the first one.");
}

function nextGroup() {
  const all = groups();
  const wrong = all.filter((one) => one.dataset.label === "I");
  const list = wrong.length ? wrong : all;
  const place = list.indexOf(group) + 1;
  choose(list[place] ?? null);
}

function choose(next) {
  group?.removeAttribute("aria-current");
  group = next;
  group?.setAttribute("aria-current", "true");
  group?.scrollIntoView({ block: "nearest" });
  if (group) {
    const numbers = leading(group).map((round) => round.dataset.number);
    say(`Group ${group.dataset.number}: ${numbers.length ? `led to by round ${numbers.join(", ")}` : "no round is tied to it"}.`);
  } else say("No group is selected.");
  paint();
}

function say(text) {
  bar.querySelector("[data-said]").textContent = text;
}

/** Makes the target of the address the selected round or group. */
function select() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (target?.matches(".group[data-number]")) return choose(target);
  if (target?.matches(".round") && target !== current()) mark(target);
  return undefined;
}

/** Opens what folds the round away, and its first observation, since the words shared with it are marked there. */
function reveal(round) {
  for (let fold = round.closest("details:not([open])"); fold; fold = fold.parentElement.closest("details:not([open])")) fold.open = true;
  const call = round.querySelector("details.call:has(.observation)");
  if (call && !round.querySelector("details.call[open]")) call.open = true;
}

function mark(round) {
  reveal(round);
  current()?.removeAttribute("aria-current");
  round.setAttribute("aria-current", "true");
  const tied = round.dataset.groups ? `, tied to group ${round.dataset.groups.replaceAll(" ", ", ")}` : "";
  say(`Round ${round.dataset.number} of ${rounds().length}${tied}.`);
  paint();
}

function paint() {
  const round = current();
  const led = new Set(group ? leading(group) : []);
  for (const one of rounds()) one.toggleAttribute("data-led", led.has(one));
  for (const mark of root.querySelectorAll(".arcs [data-round], .arcs [data-group]")) {
    const isOfRound = round && mark.dataset.round === round.dataset.number;
    const isOfGroup = group && mark.dataset.group === group.dataset.number;
    mark.toggleAttribute("data-on", Boolean(isOfRound || isOfGroup));
  }
  paintWords(round);
}

function telling(text, leftOut) {
  const found = new Set();
  for (const [word] of text.replace(ADDRESS, " ").matchAll(WORD)) {
    const folded = word.toLowerCase();
    if ((folded.length >= LEAST_LETTERS || /\p{N}/u.test(folded)) && !leftOut.has(folded)) found.add(folded);
  }
  return found;
}

function ranges(element, words, found) {
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  while (walker.nextNode() && found.length < MOST_RANGES) {
    for (const match of walker.currentNode.data.matchAll(WORD)) {
      if (!words.has(match[0].toLowerCase())) continue;
      const range = new Range();
      range.setStart(walker.currentNode, match.index);
      range.setEnd(walker.currentNode, match.index + match[0].length);
      found.push(range);
    }
  }
}

/** Marks the telling words that the round and the group, or the groups tied to the round, both have. */
function paintWords(round) {
  if (!globalThis.CSS?.highlights) return;
  CSS.highlights.delete("shared");
  if (!round) return;
  const tied = (round.dataset.groups ?? "").split(" ");
  const beside = group ? [group] : groups().filter((one) => tied.includes(one.dataset.number));
  const question = document.querySelector(".question")?.textContent ?? "";
  const leftOut = new Set([...(root.dataset.common ?? "").split(" "), ...telling(question, new Set())]);
  const said = round.querySelectorAll(".round-text, .observation");
  const own = telling([...said].map((one) => one.textContent).join("\n"), leftOut);
  const found = [];
  const shared = new Set();
  for (const one of beside) {
    const places = one.querySelectorAll(".group-title, .markdown");
    const both = [...telling([...places].map((place) => place.textContent).join("\n"), leftOut)].filter((word) => own.has(word));
    for (const word of both) shared.add(word);
    for (const place of places) ranges(place, new Set(both), found);
  }
  for (const one of said) ranges(one, shared, found);
  if (found.length) CSS.highlights.set("shared", new Highlight(...found));
}

const WAYS = {
  next: () => step(1, rounds()),
  previous: () => step(-1, rounds()),
  flagged: () => step(1, leading(group).filter((round) => "flagged" in round.dataset)),
  group: nextGroup,
  open: () => (current() ?? rounds()[0])?.querySelector(".own").click(),
};

if (bar) {
  bar.hidden = false;
  bar.addEventListener("click", (event) => WAYS[event.target.closest("[data-go]")?.dataset.go]?.());
  addEventListener("hashchange", select);
  document.addEventListener("htmx:afterSettle", () => paintWords(current()));
  select();
}
