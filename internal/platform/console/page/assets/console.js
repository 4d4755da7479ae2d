// Small comforts; every page works without them.
for (const box of document.querySelectorAll("[data-copy]")) {
  const field = box.querySelector("textarea, pre");
  if (!field || !navigator.clipboard) continue;
  const button = document.createElement("button");
  button.type = "button";
  button.className = "button small copy";
  button.textContent = "Copy";
  const said = document.createElement("span");
  said.setAttribute("role", "status");
  said.className = "unseen";
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(field.value ?? field.textContent);
      button.textContent = said.textContent = "Copied";
      setTimeout(() => { button.textContent = "Copy"; said.textContent = ""; }, 2000);
    } catch {
      if (field.select) field.select();
    }
  });
  box.append(button, said);
}
// A form that was sent once is not sent again by a second click.
for (const form of document.forms) {
  form.addEventListener("submit", (event) => {
    if (form.dataset.sent) event.preventDefault();
    form.dataset.sent = "yes";
  });
}
addEventListener("pageshow", () => { for (const form of document.forms) delete form.dataset.sent; });
