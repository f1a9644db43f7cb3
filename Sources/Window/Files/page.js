// What the page does by itself where scripts may run: search as one types, files that are dropped, news. Everything else works
// without it.

const secret = document.querySelector('meta[name="form"]')?.content ?? "";
const body = document.body;

const proof = document.querySelector('meta[name="proof"]')?.content ?? "";

// Whether the page has proved to be the one that was opened; nothing is sent before. A browser without shared workers cannot tell.
let isLive = !(proof && window.SharedWorker);
let held = [];
const live = () => (isLive ? Promise.resolve() : new Promise((go) => held.push(go)));

// News. The page empties itself when the vault is locked, and nothing is sent while nobody has proved to be it.
if (proof && window.SharedWorker) {
  const news = new SharedWorker("/news.js", { name: proof }).port;
  const notice = document.getElementById("news");
  // Whoever fills in a form would lose by a look at the news what they have typed; what has changed is told when they save.
  const isFilledIn = () =>
    [...document.querySelectorAll("form.edit")].some((form) => !form.closest("details:not([open])"));
  let waiting = null;
  let timer = null;

  const leave = () => {
    [isLive, isTyped] = [false, false];
    news.close();
    const main = document.createElement("main");
    const text = document.createElement("p");
    text.textContent = body.dataset.locked;
    main.append(text);
    body.replaceChildren(main);
  };
  const loseSoon = () => {
    isLive = false;
    timer ??= setTimeout(leave, 6000);
  };
  const heard = {
    live: () => {
      clearTimeout(timer);
      timer = null;
      isLive = true;
      if (waiting) waiting.form.requestSubmit(waiting.button);
      waiting = null;
      for (const go of held) go();
      held = [];
    },
    lost: loseSoon,
    locked: leave,
    changed: (version) => {
      if (!notice || isFilledIn() || version === body.dataset.version) return;
      notice.hidden = false;
    },
    work: (text) => {
      const bar = document.querySelector("progress.work");
      const [number, done, total] = text.split(" ");
      if (bar?.dataset.number !== number) return;
      if (total === undefined) return location.reload();
      if (Number(total) > 0) [bar.max, bar.value] = [total, done];
    },
    soon: () => {
      const text = document.createElement("p");
      text.setAttribute("role", "alert");
      text.className = "news soon";
      text.textContent = body.dataset.soon;
      document.querySelector(".soon")?.remove();
      document.querySelector("header").append(text);
    },
  };
  news.addEventListener("message", ({ data }) => heard[data.kind]?.(data.data));
  news.start();
  news.postMessage({ proof });
  loseSoon();
  addEventListener("pagehide", () => news.postMessage({ isGone: true }));
  addEventListener("submit", (event) => {
    if (isLive) return;
    event.preventDefault();
    waiting = { form: event.target, button: event.submitter };
  });
  // Back from the browser's memory of pages: what it shows is old, and may be locked by now.
  addEventListener("pageshow", (event) => {
    if (event.persisted) location.reload();
  });

  // Typing is use, too.
  let said = Date.now();
  addEventListener("input", () => {
    document.querySelector(".soon")?.remove();
    if (!isLive || Date.now() - said < 30000) return;
    said = Date.now();
    fetch("/stay", { method: "POST", body: new URLSearchParams({ form: secret }) });
  });
}

// Whoever leaves what they have typed, or what could not be saved, is asked first: browsers do not show it again. Not who gives it up,
// nor who locks.
let isTyped =
  document.querySelector('main [role="alert"] ~ form.edit, form.edit [role="alert"]') !== null;
addEventListener("input", ({ target }) => {
  if (target.closest('form.edit[method="post"]')) isTyped = true;
});
addEventListener("click", ({ target }) => {
  if (target.closest("form.edit a")) isTyped = false;
});
addEventListener("beforeunload", (event) => {
  if (isTyped) event.preventDefault();
});

// Who presses twice has meant it once: the second time would meet what the first has just saved, as if somebody else had.
let sent = null;
addEventListener("submit", (event) => {
  if (event.defaultPrevented) return;
  const isAgain = sent?.form === event.target && event.timeStamp - sent.time < 2000;
  if (isAgain) event.preventDefault();
  else {
    sent = { form: event.target, time: event.timeStamp };
    if (event.target.matches('.edit, [action="/lock"]')) isTyped = false;
  }
});

// Search as one types.
const words = document.getElementById("words");
const results = document.querySelector("#results[data-live]");
if (words && results) {
  let timer;
  let latest = 0;
  const find = async () => {
    const number = ++latest;
    await live();
    if (number !== latest) return;
    const answer = await fetch("/search", {
      method: "POST",
      headers: {
        "Content-Type": "application/x-www-form-urlencoded",
        "X-Kinvault-Form": secret,
      },
      body: new URLSearchParams(new FormData(words.form)),
    });
    if (!answer.ok || number !== latest) return;
    const made = new DOMParser().parseFromString(await answer.text(), "text/html");
    const found = made.getElementById("results");
    if (!found || number !== latest) return;
    results.replaceChildren(...found.childNodes);
    remember(found.dataset.find ?? "");
  };
  // Whoever comes back finds the same: the address has a name for the words, and never the words.
  const kept = document.querySelector('.filter [name="find"]');
  const remember = (name) => {
    const place = new URL(location);
    place.searchParams.delete("from");
    if (name) place.searchParams.set("find", name);
    else place.searchParams.delete("find");
    history.replaceState(history.state, "", place);
    [kept.value, kept.disabled] = [name, !name];
  };
  words.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(find, 150);
  });
  // Somebody may have typed before this ran.
  if (words.value !== words.defaultValue) find();
}

// A file of which no picture can be made after all: its own page says so, and a list goes without one.
const goWithout = (image) => {
  const text = image.closest("[data-nopicture]")?.dataset.nopicture;
  if (!text) {
    if (image.matches(".record img, .files img")) image.remove();
    return;
  }
  const said = document.createElement("p");
  said.textContent = text;
  (image.closest(".slice") ?? image).replaceWith(said);
};
addEventListener("error", ({ target }) => target instanceof Image && goWithout(target), true);
for (const image of [...document.images]) {
  if (image.complete && image.naturalWidth === 0) goWithout(image);
}

// From slice to slice with the arrows, where they scroll nothing.
if (document.querySelector("[data-steps]")) {
  addEventListener("keydown", (event) => {
    const place = event.target.closest(".slice");
    if (event.target.matches("input") || place?.scrollWidth > place?.clientWidth) return;
    const rel = { ArrowLeft: "prev", ArrowRight: "next" }[event.key];
    if (rel && !event.altKey && !event.ctrlKey) document.querySelector(`a[rel="${rel}"]`)?.click();
  });
}

// What is larger than its place is seen from its middle.
for (const image of document.querySelectorAll(".slice img")) {
  const centre = () => {
    const place = image.parentElement;
    place.scrollLeft = (place.scrollWidth - place.clientWidth) / 2;
    place.scrollTop = (place.scrollHeight - place.clientHeight) / 2;
  };
  if (image.complete) centre();
  else image.addEventListener("load", centre, { once: true });
}

// Files that are dropped or chosen.
for (const place of document.querySelectorAll(".drop")) {
  place.hidden = false;
  const input = place.querySelector("input");
  const list = place.querySelector("ul");

  const send = async (file) => {
    await live();
    return new Promise((done) => {
      const line = document.createElement("li");
      const bar = document.createElement("progress");
      line.append(place.dataset.running.replace("{0}", () => file.name), " ", bar);
      list.append(line);
      const fail = (reason) => {
        line.textContent = place.dataset.failed
          .replace("{0}", () => file.name)
          .replace("{1}", () => reason || place.dataset.broken);
        line.className = "error";
        done(false);
      };
      const request = new XMLHttpRequest();
      request.open("PUT", `${place.dataset.upload}?name=${encodeURIComponent(file.name)}`);
      request.setRequestHeader("X-Kinvault-Form", secret);
      request.upload.addEventListener("progress", (event) => {
        if (event.lengthComputable) [bar.max, bar.value] = [event.total, event.loaded];
      });
      request.addEventListener("load", () => {
        if (request.status === 201) {
          line.textContent = request.responseText;
          done(true);
        } else fail(request.responseText);
      });
      request.addEventListener("error", () => fail(""));
      request.send(file);
    });
  };

  const take = async (files, isEverything = true) => {
    let areAllThere = isEverything;
    for (const file of files) areAllThere = (await send(file)) && areAllThere;
    if (areAllThere && files.length > 0) location.reload();
  };

  input.addEventListener("change", () => take([...input.files]));
  for (const kind of ["dragenter", "dragover"]) {
    place.addEventListener(kind, (event) => {
      event.preventDefault();
      place.classList.add("over");
    });
  }
  place.addEventListener("dragleave", () => place.classList.remove("over"));
  place.addEventListener("drop", (event) => {
    event.preventDefault();
    place.classList.remove("over");
    const { files, items } = event.dataTransfer;
    // In the order of the files; what is none has no file here.
    const areFolders = [...items]
      .filter((one) => one.kind === "file")
      .map((one) => one.webkitGetAsEntry()?.isDirectory ?? false);
    if (areFolders.includes(true)) {
      const line = document.createElement("li");
      line.textContent = place.dataset.folder;
      line.className = "error";
      list.append(line);
    }
    take([...files].filter((file, number) => !areFolders[number]), !areFolders.includes(true));
  });
}

// A file that misses its place would be opened by the browser in the place of the page.
for (const kind of ["dragover", "drop"]) {
  addEventListener(kind, (event) => event.preventDefault());
}
