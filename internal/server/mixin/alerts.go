package mixin

const (
	page   = "page"
	ticket = "ticket"
	info   = "info"
)

// alerts returns all alerts, the most urgent subjects first.
func alerts() []alert {
	list := httpAlerts()
	list = append(list, moneyAlerts()...)
	list = append(list, workAlerts()...)
	return append(list, processAlerts()...)
}

func httpAlerts() []alert {
	look := []string{
		"`sum by (host, route, code) (rate(ace_http_requests_total{code=~\"5xx|503\"}[5m]))`: which route fails.",
		"`sum by (host, code) (rate(ace_problems_total[5m]))`: with which code of [errors.md](errors.md).",
		"The log at level `error`: each line has the request's id, route and problem code.",
	}
	return []alert{
		{
			name:     "AceBudgetFast",
			severity: page,
			wait:     "2m",
			expr:     burn(14.4, "1h", "5m") + "\nor\n" + burn(6, "6h", "30m"),
			summary:  "{{ $labels.host }}: requests fail so often that the month's budget is spent within days",
			meaning: "More than 0.72 % of a host's requests failed in the last hour, or more than 0.3 % in six " +
				"hours: " +
				"the failures that 30 days allow (0.05 %) are spent within two to five days.",
			effect: "Purchases or calls of tools fail. Agents retry, people see an error.",
			look:   look,
			repair: []string{
				"If the failures began with a release, go back to the release before; its schema is still supported.",
				"If they are 503, look at the database ([AceNotReady](#acenotready), " +
					"[AceDbPoolTight](#acedbpooltight)).",
				"If one route fails alone, its log lines name the cause.",
			},
			never: "Do not restart all replicas at once: those that still work then stop, too.",
		},
		{
			name: "AceBudgetSlow", severity: ticket, wait: "1h", expr: burn(1, "3d", "6h"),
			summary: "{{ $labels.host }}: requests fail more often than the service level allows",
			meaning: "A host has failed more often than 0.05 % for three days.",
			effect:  "Few requests fail, and repeating them mostly works.",
			look:    look,
			repair:  []string{"Find the route and the code that most failures have, and repair that one first."},
			never:   "Do not raise the limit of the alert before the cause is known.",
		},
		{
			name: "AcePanics", severity: ticket, expr: `sum by (host) (increase(ace_http_panics_total[15m])) > 0`,
			summary: "{{ $labels.host }}: a handler panicked",
			meaning: "A request ended by a panic, which is an error in the program.",
			effect:  "That request got 500. No other request is affected.",
			look:    []string{"The log line `panic` at level `error`, which has the stack and the request's id."},
			repair:  []string{"Report the stack. If one client repeats the request, its limit slows it down."},
			never:   "Do not delete the log before the stack was read.",
		},
	}
}

func moneyAlerts() []alert {
	return []alert{
		{
			name: "AceSweepStuck", severity: page, expr: `max(ace_cluster_sweep_age_seconds) > 1800`,
			summary: "Payments have not been compared with the processor for half an hour",
			meaning: "The sweep reads the processor's list of payments every five minutes; it has not finished " +
				"for 30.",
			effect: "A payment whose webhook was lost is not noticed: the buyer has paid and gets nothing yet.",
			look: []string{
				"`sum by (operation, outcome) (rate(ace_processor_calls_total[15m]))`: does the processor respond?",
				"`ace_cluster_job_oldest_due_seconds{lane=\"money\"}`: is the lane full?",
			},
			repair: []string{
				"If the key of the processor is refused, set a new `ACE_STRIPE_API_KEY` and restart one replica " +
					"after another.",
				"If the processor is unavailable, wait: the sweep continues where it ended, however long that was.",
			},
			never: "Do not refund by hand what the sweep will find: it refunds second payments itself.",
		},
		{
			name:     "AceProcessorDown",
			severity: page,
			wait:     "5m",
			expr: `sum(increase(ace_processor_calls_total{outcome=~"unavailable|error"}[15m])) > 5
and
sum(increase(ace_processor_calls_total{outcome=~"unavailable|error"}[15m]))
  / sum(increase(ace_processor_calls_total[15m])) > 0.5`,
			summary: "More than half of the calls of the payment processor fail",
			meaning: "The payment processor does not respond, or refuses what we send.",
			effect:  "No checkout can be opened. Payments on open pages still work and are noticed later.",
			look: []string{
				"The processor's status page.",
				"`sum by (operation, outcome) (rate(ace_processor_calls_total[5m]))`, and the log at level `error`.",
			},
			repair: []string{"Wait for the processor, or set a valid key. Nothing has to be repeated afterwards."},
			never: "Do not change the processor's account while sessions are open: their payments stay in the " +
				"old one.",
		},
		{
			name:     "AceOrdersNeedPerson",
			severity: ticket,
			wait:     "30m",
			expr:     `max by (status) (ace_cluster_orders_attention) > 0`,
			summary:  "{{ $value }} orders wait for a person: {{ $labels.status }}",
			meaning: "Orders are in `review` (paid otherwise than quoted) or `refund_due` (paid, but not " +
				"deliverable).",
			effect: "Those buyers have paid and wait.",
			look:   []string{"`ace order list --status review` and `ace order list --status refund_due`."},
			repair: []string{
				"`ace order accept` or `ace order refund`, as [operations.md](operations.md#orders) explains.",
			},
			never: "Do not refund in a second system as well: refunds at the processor appear here by themselves.",
		},
		{
			name: "AceMoneyLate", severity: page, wait: "5m",
			expr:    `max(ace_cluster_job_oldest_due_seconds{lane="money"}) > 120`,
			summary: "Work on payments is late by {{ $value | humanizeDuration }}",
			meaning: "A job of the money lane has been due for more than two minutes.",
			effect:  "Payments are noticed late, refunds are sent late.",
			look: []string{
				"`ace_lane_busy{lane=\"money\"}`: are all eight of a replica at work?",
				"`ace:processor_seconds:p99_5m`: does the processor respond slowly?",
			},
			repair: []string{"Start a further replica on PostgreSQL, or wait for the processor."},
			never:  "Do not delete rows of `job`: a payment without its job is noticed by the sweep only.",
		},
	}
}

func workAlerts() []alert {
	return []alert{
		{
			name:     "AceLaneLate",
			severity: ticket,
			wait:     "5m",
			expr: `max by (lane) (ace_cluster_job_oldest_due_seconds{lane="deliver"}) > 300
or
max by (lane) (ace_cluster_job_oldest_due_seconds{lane!~"deliver|money"}) > 900`,
			summary: "Jobs of the lane {{ $labels.lane }} are late by {{ $value | humanizeDuration }}",
			meaning: "Jobs of a lane have been due for more than 5 minutes (deliver) or 15 minutes (others).",
			effect: "deliver: notices are late. refresh: connections may expire. poll: events are late. run: " +
				"tools start late.",
			look: []string{
				"`sum by (lane) (ace_lane_busy)` beside the limits of [operations.md](operations.md#jobs).",
				"`ace:job_seconds:p99_5m`: which kind of job takes long?",
			},
			repair: []string{
				"Start a further replica, or wait if one vendor alone is slow: its jobs end by their deadline.",
			},
			never: "Do not delete rows of `job`.",
		},
		{
			name: "AceJobsParked", severity: ticket, wait: "10m", expr: `max by (kind) (ace_cluster_jobs_parked) > 0`,
			summary: "{{ $value }} jobs of the kind {{ $labels.kind }} failed for the last time",
			meaning: "A job has failed as often as it may. Nobody tries it again.",
			effect:  "Depends on the kind: an order event was not sent, a refund was not made.",
			look:    []string{"The log line `job parked` with the kind, the id and the last error."},
			repair: []string{
				"Repair the cause that the error names.",
				"Order events: `ace order resend`. Refunds: `ace order refund`.",
			},
			never: "Do not set a refund on its way a second time before the order was read.",
		},
		{
			name: "AceDeliveriesLate", severity: ticket, wait: "10m",
			expr:    `max(ace_cluster_delivery_oldest_due_seconds) > 300`,
			summary: "Events of triggers wait for {{ $value | humanizeDuration }} longer than they should",
			meaning: "A delivery of an event has been due for more than five minutes.",
			effect:  "Receivers get events late. None is lost.",
			look: []string{
				"`sum by (attempt, outcome) (rate(ace_deliveries_total[5m]))` and `ace:delivery_seconds:p99_5m`.",
				"`ace_lane_busy{lane=\"deliver\"}`.",
			},
			repair: []string{"Start a further replica. A receiver that fails is tried three times and then left " +
				"out."},
			never: "Do not switch the guard for addresses off to make deliveries pass.",
		},
		{
			name: "AceOauthClientBroken", severity: ticket, wait: "5m",
			expr:    `sum by (app) (increase(ace_refreshes_total{class="client_broken"}[30m])) > 0`,
			summary: "{{ $labels.app }} refuses our OAuth client",
			meaning: "A vendor refuses the id or secret of the OAuth client that connections are renewed with.",
			effect:  "Connections of that app stop working one after another when their tokens expire.",
			look:    []string{"The vendor's developer console: was the secret rotated, or the application removed?"},
			repair:  []string{"`ace oauth-client set APP` with the new secret. Existing connections continue."},
			never:   "Do not delete the connections: with the right client they continue without their users.",
		},
		{
			name:     "AceAppDown",
			severity: info,
			wait:     "15m",
			expr: `sum by (app) (increase(ace_runs_total[15m])) > 20
and
sum by (app) (increase(ace_runs_total{outcome=~"failed|interrupted"}[15m]))
  / sum by (app) (increase(ace_runs_total[15m])) > 0.5`,
			summary: "More than half of the runs of {{ $labels.app }} fail",
			meaning: "Most runs of an app's tools fail.",
			effect:  "Agents get errors of that app.",
			look:    []string{"The vendor's status page; `ace:outbound_seconds:p99_5m`; `ace_egress_denied_total`."},
			repair: []string{
				"Wait for the vendor. If only we see it, compare the app's definition with its documentation.",
			},
			never: "Do not raise limits of calls: a vendor in trouble answers them with longer blocks.",
		},
	}
}

func processAlerts() []alert {
	return []alert{
		{
			name:     "AceNotReady",
			severity: page,
			wait:     "5m",
			expr:     `ace_ready == 0`,
			summary:  "{{ $labels.instance }} has not been ready for five minutes",
			meaning: "A replica runs and takes no requests: it stops, its database does not respond, or it " +
				"cannot open secrets.",
			effect: "None while other replicas serve; otherwise everything fails.",
			look:   []string{"`GET /readyz` on `ACE_ADMIN_ADDR`, which names the reason."},
			repair: []string{
				"Repair the database or the key that the reason names. The replica becomes ready by itself.",
			},
			never: "Do not route requests to it regardless.",
		},
		{
			name:     "AceCountsMissing",
			severity: page,
			wait:     "5m",
			expr:     `max(ace_cluster_up) == 0`,
			summary:  "No replica can count what waits in the database",
			meaning: "The counts `ace_cluster_*` are missing on every replica, so that the alerts on payments " +
				"see nothing.",
			effect: "Unknown: that is why it pages.",
			look:   []string{"The database's load and its slow statements; `ace_db_pool_conns`."},
			repair: []string{"Make room in the database. The counts return within 15 seconds."},
			never:  "Do not silence it for longer than the repair takes.",
		},
		{
			name:     "AceDbPoolTight",
			severity: ticket,
			wait:     "10m",
			expr: `sum by (instance, pool) (rate(ace_db_pool_wait_seconds_total{pool="read"}[5m]))
  / (sum by (instance, pool) (rate(ace_db_pool_waits_total{pool="read"}[5m])) > 1) > 0.1`,
			summary: "{{ $labels.instance }}: a connection to the database is waited for {{ $value | " +
				"humanizeDuration }}",
			meaning: "More than one request a second waits for a connection to the database, for 100 ms and " +
				"more each.",
			effect: "Everything is slow.",
			look: []string{
				"`ace_db_pool_conns` beside `ace_db_pool_max_conns`.",
				"The database: `pg_stat_activity` shows which statements run.",
			},
			repair: []string{"Find the slow statement first. Then add a replica, or a larger database."},
			never:  "Do not raise the number of connections above what PostgreSQL allows for all replicas together.",
		},
		{
			name:     "AceVaultTrouble",
			severity: page,
			wait:     "2m",
			expr:     `ace_vault_trouble == 1`,
			summary:  "{{ $labels.instance }} cannot open secrets",
			meaning: "A replica cannot open what others seal, for example because its key or the key service " +
				"refuses it.",
			effect: "The replica takes no requests. If it is the last one, everything fails.",
			look:   []string{"`GET /readyz` on `ACE_ADMIN_ADDR` and `ace vault status`."},
			repair: []string{"[Keys of secrets](operations.md#keys-of-secrets) says what each reason needs."},
			never:  "Do not stop replicas that still work: they hold the keys in memory.",
		},
		{
			name: "AceRelaxed", severity: ticket, expr: `max by (what) (ace_config_relaxed) == 1`,
			summary: "A protection is off: {{ $labels.what }}",
			meaning: "Settings switched off request limits, the guard for addresses, or verified TLS.",
			effect:  "None; that is what makes it easy to forget.",
			look:    []string{"`ACE_RATE_LIMIT`, `ACE_EGRESS_ALLOW`, `ACE_DEV_TLS` of the replica."},
			repair:  []string{"Remove the setting and restart. For a development server, do not load these alerts."},
			never:   "Do not leave it so on a public address.",
		},
		{
			name: "AceVersionSkew", severity: ticket, wait: "1h",
			expr:    `count(count by (version) (ace_build_info)) > 1`,
			summary: "Replicas run {{ $value }} versions",
			meaning: "Two versions have run beside each other for longer than an hour.",
			effect:  "None: two neighbouring versions work together. A third one does not.",
			look:    []string{"`count by (version, instance) (ace_build_info)`."},
			repair:  []string{"Finish the rollout, or go back."},
			never:   "Do not begin another rollout before.",
		},
	}
}
