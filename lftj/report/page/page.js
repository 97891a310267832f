"use strict";
(() => {
  const byId = (id) => document.getElementById(id);
  const token = document.body.dataset.token;
  let data = JSON.parse(byId("data").textContent);
  const PAGE = 200, MATCHES = 12;
  let shown = 50;

  // What comes after the first rows of a long list waits as text, so that the page opens at once.
  // It takes its place when the browser has nothing else to do.
  const unfold = () => {
    const waiting = document.querySelector("script.later");
    if (waiting) waiting.outerHTML = waiting.textContent; // escaped as all of the page is
    return waiting !== null;
  };
  const unfoldAll = () => {
    while (unfold());
  };
  const idle = window.requestIdleCallback
    || ((run) => setTimeout(run, 50, { timeRemaining: () => 0 }));
  const unfoldIdly = () => idle((deadline) => {
    do {
      if (!unfold()) return;
    } while (deadline.timeRemaining() > 10);
    unfoldIdly();
  });

  // Open the samples of a relation, by the id of its element.
  const show = (id) => {
    if (!byId(id)) unfoldAll();
    const details = byId(id);
    if (details) details.open = true;
    return details;
  };

  const element = (name, text, className) => {
    const made = document.createElement(name);
    if (text !== undefined) made.textContent = text;
    if (className) made.className = className;
    return made;
  };

  // An explanation comes as lines, each indented by two spaces more than what it belongs to.
  const tree = (text) => {
    const root = element("div", undefined, "tree");
    const lines = text.split("\n").map((line) => {
      const inner = line.trimStart();
      return [(line.length - inner.length) / 2, inner];
    });
    const above = [[-1, root]];
    lines.forEach(([depth, line], place) => {
      while (above[above.length - 1][0] >= depth) above.pop();
      const parent = above[above.length - 1][1];
      const next = lines[place + 1];
      const className = line.startsWith("by ") ? "rule" : "";
      if (next && next[0] > depth) {
        const details = element("details");
        details.open = depth < 3;
        details.append(element("summary", line, className));
        parent.append(details);
        above.push([depth, details]);
      } else {
        parent.append(element("div", line, className));
      }
    });
    return root;
  };

  const answer = (text) => byId("answer").replaceChildren(tree(text));

  const get = async (path, values) => {
    const query = new URLSearchParams({ ...values, token });
    const response = await fetch(`${path}?${query}`, { cache: "no-store" });
    if (!response.ok) throw new Error(await response.text());
    return response.json();
  };

  const choice = (row) => {
    const item = element("li");
    const button = element("button", row);
    button.type = "button";
    button.dataset.row = row;
    item.append(button);
    return item;
  };

  const explain = async (row) => {
    byId("asked").value = row;
    byId("found").replaceChildren();
    history.replaceState(null, "", `#why=${encodeURIComponent(row)}`);
    if (token) {
      try {
        const found = await get("/explain", { row });
        answer(found.text);
        if (found.rows) byId("found").replaceChildren(...found.rows.map(choice));
      } catch (problem) {
        answer(String(problem.message || problem));
      }
    } else if (data.explained[row] !== undefined) {
      answer(data.explained[row]);
    } else {
      answer("This row is not among the samples of the page.");
    }
  };

  const matches = () => {
    const asked = byId("asked").value.trim().toLowerCase();
    const rows = Object.keys(data.explained).filter((row) => row.toLowerCase().includes(asked));
    const found = rows.slice(0, MATCHES).map(choice);
    if (rows.length > MATCHES) found.push(element("li", `… ${rows.length - MATCHES} more`, "quiet"));
    byId("found").replaceChildren(...found);
    return rows;
  };

  byId("asked").addEventListener("input", matches);
  byId("search").addEventListener("submit", (event) => {
    event.preventDefault();
    const asked = byId("asked").value.trim();
    if (!asked) return;
    const rows = token || data.explained[asked] !== undefined ? [asked] : matches();
    if (rows.length) explain(rows[0]);
    else answer("No row of the samples matches.");
  });
  document.addEventListener("click", (event) => {
    const button = event.target.closest("button[data-row]");
    if (button) {
      explain(button.dataset.row);
      byId("why").scrollIntoView();
      byId("asked").focus({ preventScroll: true });
    }
    if (event.target.id === "more") more();
    const link = event.target.closest('a[href^="#relation-"]');
    if (link) show(link.getAttribute("href").slice(1));
  });

  const duration = (seconds) => {
    if (seconds === null || seconds === undefined) return "";
    if (seconds >= 1) return `${seconds.toFixed(1)} s`;
    return seconds >= 1e-3 ? `${(seconds * 1e3).toFixed(1)} ms` : `${(seconds * 1e6).toFixed(0)} µs`;
  };

  const more = () => {
    const rows = data.commits.slice(shown, shown + PAGE).map((commit) => {
      const [version, when, message, changed, took, views, compiling] = commit;
      const row = element("tr");
      row.append(element("td", version, "number"), element("td", when, "nowrap"));
      row.append(element("td", duration(took), "number"), element("td", duration(views), "number"));
      row.append(element("td", compiling ? duration(compiling) : "", "number"));
      const cell = element("td");
      cell.append(element("code", changed));
      row.append(cell, element("td", message));
      return row;
    });
    byId("commit-rows").append(...rows);
    shown += PAGE;
    if (shown >= data.commits.length) byId("more").remove();
  };

  // A page that is served follows commits: it asks for the next version, and waits for the answer.
  const follow = async () => {
    for (;;) {
      try {
        const news = await get("/next", { since: data.version });
        if (news.content !== undefined) {
          const open = new Set([...document.querySelectorAll("#content details[open] > summary")].map(
            (summary) => summary.textContent));
          data = news.data;
          shown = 50;
          byId("content").innerHTML = news.content; // escaped by the server; scripts in it do not run
          if (open.size) unfoldAll();
          else unfoldIdly();
          for (const summary of document.querySelectorAll("#content details > summary")) {
            if (open.has(summary.textContent)) summary.parentElement.open = true;
          }
          document.title = `lftj workspace, version ${data.version}`;
        }
      } catch {
        await new Promise((resume) => setTimeout(resume, 2000));
      }
    }
  };

  addEventListener("load", unfoldIdly);
  addEventListener("beforeprint", unfoldAll);
  if (location.hash.startsWith("#relation-")) show(location.hash.slice(1))?.scrollIntoView();
  const wanted = location.hash.match(/^#why=(.*)$/);
  if (wanted) explain(decodeURIComponent(wanted[1]));
  if (token) follow();
})();
