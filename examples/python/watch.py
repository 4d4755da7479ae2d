"""Has each new note posted to a webhook, and prints the secret that its deliveries are signed with.

    ACE_API_KEY=… python watch.py https://your.example/webhook
"""

import sys

from ace import ACE

ace = ACE()
trigger = ace.triggers.create("demo-notes", "new_note", webhook_url=sys.argv[1])
print("ACE_WEBHOOK_SECRET=" + trigger.signing_secret)
