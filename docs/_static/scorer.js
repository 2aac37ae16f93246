// How the site's search ranks pages. Sphinx reads it into searchtools.js (html_search_scorer).
// A guide whose title has the word comes first, then other guides, then the reference; the changelog comes last.
const asked = () => (new URLSearchParams(window.location.search).get("q") || "").toLowerCase();

// Words of one family share their first letters: calibrate, calibration.
const family = (word) => word.slice(0, Math.max(4, word.length - 3));

const named = (title, query) =>
  query.split(/\s+/).filter((word) => word && title.toLowerCase().includes(family(word))).length;

const rank = (page) => {
  if (["changelog", "contributing", "architecture"].includes(page)) return -12;
  if (page.startsWith("papers/") || page.startsWith("quality") || page === "benchmarks") return -6;
  if (["adjusted", "weighted", "boosted", "perplexed", "c44"].includes(page)) return -8;
  if (page.startsWith("generated/")) return -2;
  if (page.startsWith("tutorial") || page.startsWith("coming-from")) return -1;
  return 0;
};

var Scorer = {
  score: (result) => {
    const [page, title, , , score] = result;
    return Math.min(score, 16) + rank(page) + 8 * named(title.split(" > ")[0], asked());
  },
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
