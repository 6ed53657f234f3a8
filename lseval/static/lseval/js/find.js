/* Find words in the element that `data-find` names. Hits are painted with the highlight API, so the text itself,
   its marked passages and its anchors stay as they are. Runs of white space match each other. */

const LIMIT = 2000;
const BLOCKS = "p, li, td, th, h1, h2, h3, h4, h5, h6, pre, blockquote, dt, dd, div";
const states = new WeakMap();

/** The text of `root` with where each text node begins in it; block borders count as a line break. */
function readText(root) {
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  const pieces = [];
  let text = "";
  let block = null;
  while (walker.nextNode()) {
    const node = walker.currentNode;
    const own = node.parentElement.closest(BLOCKS);
    if (block && own !== block) text += "\n";
    block = own;
    pieces.push({ node, start: text.length });
    text += node.data;
  }
  return { text, pieces };
}

/** The text node and the offset in it of a position; `pieces` is sorted by `start`. */
function locate(pieces, position, isEnd) {
  let low = 0;
  let high = pieces.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    const isBefore = isEnd ? pieces[middle].start < position : pieces[middle].start <= position;
    if (isBefore) low = middle;
    else high = middle - 1;
  }
  const { node, start } = pieces[low];
  return [node, Math.min(position - start, node.length)];
}

function findRanges(root, query) {
  const words = query.trim().split(/\s+/u).filter(Boolean);
  if (!words.length) return [];
  const pattern = new RegExp(words.map((word) => word.replace(/[\\^$.*+?()[\]{}|/-]/gu, "\\$&")).join("\\s+"), "giu");
  const { text, pieces } = readText(root);
  const ranges = [];
  for (const match of text.matchAll(pattern)) {
    const range = new Range();
    range.setStart(...locate(pieces, match.index, false));
    range.setEnd(...locate(pieces, match.index + match[0].length, true));
    ranges.push(range);
    if (ranges.length === LIMIT) break;
  }
  return ranges;
}

function paint(name, ranges) {
  if (globalThis.CSS?.highlights) CSS.highlights.set(name, new Highlight(...ranges));
}

function showCurrent(box, state) {
  const range = state.ranges[state.current];
  const output = box.querySelector("[data-find-count]");
  if (output) {
    const total = state.ranges.length === LIMIT ? `${LIMIT}+` : state.ranges.length;
    output.textContent = state.query.trim() ? (range ? `${state.current + 1} of ${total}` : "none") : "";
  }
  paint("find", state.ranges);
  paint("find-current", range ? [range] : []);
  if (!range) return;
  const view = state.root.getBoundingClientRect();
  const place = range.getBoundingClientRect();
  state.root.scrollTop += place.top - view.top - view.height / 3;
  if (view.bottom > innerHeight || view.top < 0) state.root.scrollIntoView({ block: "nearest" });
}

function search(box) {
  const root = document.getElementById(box.dataset.find);
  const query = box.querySelector("[data-find-input]").value;
  if (!root) return;
  const state = { root, query, ranges: findRanges(root, query), current: 0 };
  states.set(box, state);
  showCurrent(box, state);
}

function move(box, step) {
  const state = states.get(box);
  if (!state?.root.isConnected) return search(box);
  if (!state.ranges.length) return;
  state.current = (state.current + step + state.ranges.length) % state.ranges.length;
  showCurrent(box, state);
}

document.addEventListener("input", (event) => {
  const box = event.target.closest("[data-find]");
  if (box && event.target.matches("[data-find-input]")) search(box);
});

document.addEventListener("keydown", (event) => {
  if (!event.target.matches?.("[data-find-input]")) return;
  const box = event.target.closest("[data-find]");
  if (event.key === "Enter") {
    event.preventDefault();
    move(box, event.shiftKey ? -1 : 1);
  } else if (event.key === "Escape") {
    event.target.value = "";
    search(box);
    event.target.blur();
  }
});

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-find-previous], [data-find-next]");
  if (button) move(button.closest("[data-find]"), button.matches("[data-find-next]") ? 1 : -1);
});

function reveal() {
  for (const box of document.querySelectorAll("[data-find][hidden]")) box.hidden = false;
}
document.addEventListener("htmx:afterSwap", reveal);
reveal();
