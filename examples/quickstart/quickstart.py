"""Connects an app and runs a tool in it."""

from ace import ACE

ace = ACE()  # reads ACE_API_KEY
link = ace.apps.connect("demo-notes", verify="link")
print("Open", link.url, flush=True)
link.wait()

found = ace.tools.find("write a note", apps=["demo-notes"])
run = ace.tools.run(found.tools[0].tool, {"title": "Milk"})
print("Written:", run.output.title)
