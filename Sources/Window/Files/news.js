// One stream of news for all pages of this browser, which keeps no more than six connections to one place. It counts only
// once it has said what only the page that was opened can know: whoever has its port afterwards does not.

const pages = new Set();
let events;
let proof;
let isLive = false;
// How far something long has come: a page may be loaded after it was said.
let work;

const tell = (message) => {
  for (const page of pages) page.postMessage(message);
};

const end = () => {
  events.close();
  isLive = false;
  tell({ kind: "locked" });
};

const begin = () => {
  events = new EventSource("/events");
  events.addEventListener("proof", (event) => {
    if (event.data !== proof) return end();
    isLive = true;
    tell({ kind: "live" });
  });
  for (const kind of ["changed", "soon", "work", "locked"]) {
    events.addEventListener(kind, (event) => {
      if (!isLive || kind === "locked") return end();
      const message = { kind, data: event.data };
      if (kind === "work") work = message;
      tell(message);
    });
  }
  events.addEventListener("error", () => {
    isLive = false;
    if (events.readyState === EventSource.CLOSED) return end();
    tell({ kind: "lost" });
  });
};

addEventListener("connect", (event) => {
  const page = event.ports[0];
  page.addEventListener("message", ({ data }) => {
    if (data.isGone) return pages.delete(page);
    proof ??= data.proof;
    pages.add(page);
    if (!events) begin();
    else if (events.readyState === EventSource.CLOSED) page.postMessage({ kind: "locked" });
    else if (isLive) page.postMessage({ kind: "live" });
    if (isLive && work) page.postMessage(work);
  });
  page.start();
});
