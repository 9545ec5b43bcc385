"use strict";
(function () {
  const page = document.documentElement;
  const buttons = document.querySelectorAll("[data-language]");

  function speak(language) {
    page.lang = language;
    buttons.forEach(function (button) {
      button.setAttribute("aria-pressed", String(button.dataset.language === language));
    });
    try { localStorage.setItem("hal-language", language); } catch (error) { /* a file opened without storage */ }
  }

  function first_language() {
    const wanted = new URLSearchParams(location.search).get("lang");
    if (wanted === "zh" || wanted === "en") { return wanted; }
    try {
      const kept = localStorage.getItem("hal-language");
      if (kept === "zh" || kept === "en") { return kept; }
    } catch (error) { /* the same */ }
    return navigator.language.startsWith("zh") ? "zh" : "en";
  }

  buttons.forEach(function (button) {
    button.addEventListener("click", function () { speak(button.dataset.language); });
  });
  speak(first_language());

  // A cell of the grid leads to its row, which then lies open.
  function open_target() {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (target && target.tagName === "DETAILS") { target.open = true; }
  }
  addEventListener("hashchange", open_target);
  open_target();

  document.getElementById("filter").addEventListener("input", function (event) {
    const text = event.target.value.trim().toLowerCase();
    document.querySelectorAll("#tests .row").forEach(function (row) {
      const own = row.querySelector("summary");
      const whole = text === "" || (own || row).textContent.toLowerCase().includes(text);
      let any = whole;
      row.querySelectorAll("tr").forEach(function (line) {
        const hit = whole || line.textContent.toLowerCase().includes(text);
        line.hidden = !hit;
        any = any || hit;
      });
      row.hidden = !any;
      if (row.tagName === "DETAILS") { row.open = text !== "" && any && !whole; }
    });
  });
})();
