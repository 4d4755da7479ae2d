// The page is empty until this has run. That is its fault.
const rates = [["Harbour 3", "18 €", "65 €"], ["Cargo 8", "32 €", "120 €"], ["Child seat", "4 €", "15 €"]];
const place = document.getElementById("rates");
const add = (parent, name, text) => { const e = document.createElement(name); e.textContent = text || ""; parent.append(e); return e; };
add(place, "h1", "Rent a bike in Brackwater");
add(place, "p", "You rent a bike by the day or by the week. Bring a passport; the lock and the lights are included.").className = "lead";
const table = add(add(place, "div"), "table");
const head = add(add(table, "thead"), "tr");
for (const name of ["Bike", "A day", "A week"]) add(head, "th", name).scope = "col";
const rows = add(table, "tbody");
for (const rate of rates) { const row = add(rows, "tr"); for (const cell of rate) add(row, "td", cell); }
