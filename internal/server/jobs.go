package server

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"time"

	"ace/internal/foundation/jobs"
	"ace/internal/platform/connection"
	"ace/internal/platform/connector"
	"ace/internal/platform/tool"
	"ace/internal/platform/trigger"
	"ace/internal/storage"
	"ace/internal/storage/platformstore"
	"ace/internal/storefront/checkout"
	"ace/internal/storefront/order"
	"ace/internal/storefront/paidservice"
)

// Kinds of the jobs that belong to no domain package.
const (
	jobSweep     = "sweep"      // finds payments that no webhook reported
	jobPrune     = "prune"      // deletes what is past its time
	jobStock     = "stock"      // counts the units of offers again
	jobPrunePaid = "prune_paid" // the same for website services
)

const (
	sweepEvery = 5 * time.Minute
	pruneEvery = time.Hour
	stockEvery = 24 * time.Hour
)

// jobLanes says in which lane each kind of job is done. Each kind that has a
// handler is here.
func jobLanes() map[string]jobs.Lane {
	return map[string]jobs.Lane{
		checkout.JobOpen:    jobs.LaneMoney,
		checkout.JobWatch:   jobs.LaneMoney,
		checkout.JobEvent:   jobs.LaneMoney,
		checkout.JobCompare: jobs.LaneMoney,
		order.JobPayment:    jobs.LaneMoney,
		order.JobRefund:     jobs.LaneMoney,
		paidservice.JobTend: jobs.LaneMoney,
		jobSweep:            jobs.LaneMoney,

		order.JobDeliver:     jobs.LaneDeliver,
		connection.JobNotify: jobs.LaneDeliver,
		trigger.JobDeliver:   jobs.LaneDeliver,

		trigger.JobTend: jobs.LanePoll,

		connection.JobRefresh:  jobs.LaneRefresh,
		connection.JobFarewell: jobs.LaneRefresh,

		tool.JobRun:         jobs.LaneRun,
		connector.JobImport: jobs.LaneRun,

		jobPrune:            jobs.LaneHouse,
		jobPrunePaid:        jobs.LaneHouse,
		jobStock:            jobs.LaneHouse,
		jobVault:            jobs.LaneHouse,
		connection.JobPrune: jobs.LaneHouse,
		tool.JobSweep:       jobs.LaneHouse,
		trigger.JobPrune:    jobs.LaneHouse,
	}
}

// inSlices is work that is due every d and ends early if there is more to do:
// the job continues at once, behind the others.
func inSlices(d time.Duration, do func(context.Context) (more bool, err error)) jobs.Handler {
	return jobs.Handler{Interruptible: true, Run: func(ctx context.Context, _ jobs.Job) error {
		more, err := do(ctx)
		switch {
		case err != nil:
			return err
		case more:
			return jobs.Later(time.Now())
		}
		return jobs.Later(time.Now().Add(d))
	}}
}

// buildWorkers makes the worker of all lanes, and one for what is held after a
// restore.
func (s *Server) buildWorkers(ctx context.Context) error {
	handlers := s.handlers()
	held, err := s.splitHeld(ctx, handlers)
	if err != nil {
		return err
	}
	s.worker = s.newWorker(handlers)
	if held != nil {
		s.held = s.newWorker(held)
	}
	return nil
}

func (s *Server) newWorker(handlers map[string]jobs.Handler) *jobs.Worker {
	connections := platformstore.Connections{Store: platformstore.New(s.db, s.lanes)}
	sources := s.platform.triggers.Sources()
	sources[connection.JobRefresh] = connections.Refreshes()
	return jobs.NewWorker(storage.New(s.db, s.lanes), s.lanes, handlers, s.log, &jobs.Options{
		Sources: sources, Observer: s.metrics,
	})
}

// handlers gathers the jobs of all parts. Housekeeping is rows like all other
// jobs, so that one replica does it.
func (s *Server) handlers() map[string]jobs.Handler {
	store := storage.New(s.db, s.lanes)
	all := map[string]jobs.Handler{
		jobPrune:     inSlices(pruneEvery, store.Prune),
		jobStock:     s.stockJob(),
		jobPrunePaid: inSlices(pruneEvery, storage.Paid{Store: store}.Prune),
		jobVault:     s.vaultJob(),
	}
	for _, part := range []map[string]jobs.Handler{
		s.platform.connections.Handlers(), s.platform.tools.Jobs(), s.platform.connectors.Handlers(),
		s.platform.triggers.Handlers(),
	} {
		maps.Copy(all, part)
	}
	if s.sales != nil { // otherwise a process with a processor does them
		all[jobSweep] = inSlices(sweepEvery, s.sales.Sweep)
		for _, part := range []map[string]jobs.Handler{s.sales.Handlers(), s.orders.Handlers(), s.services.Handlers()} {
			maps.Copy(all, part)
		}
	}
	return all
}

// stockJob counts the units of offers again, soon after each start of a replica:
// during an upgrade, an older one may have changed sessions without them.
func (s *Server) stockJob() jobs.Handler {
	return jobs.Handler{Interruptible: true, Run: func(ctx context.Context, _ jobs.Job) error {
		corrected, err := storage.New(s.db, s.lanes).RecountStock(ctx)
		if err != nil {
			return err
		}
		if corrected > 0 {
			s.log.WarnContext(ctx, "stock of offers corrected", slog.Int("offers", corrected))
		}
		return jobs.Later(time.Now().Add(stockEvery))
	}}
}

// prepareWork schedules the housekeeping, and takes over what a process that
// died has left, if no other can be at it.
func (s *Server) prepareWork(ctx context.Context) error {
	store, now := storage.New(s.db, s.lanes), time.Now()
	if !s.db.Shared() {
		runs := platformstore.Runs{Store: platformstore.New(s.db, s.lanes)}
		if err := errors.Join(store.Reclaim(ctx), storage.Paid{Store: store}.Reclaim(ctx),
			runs.ReclaimRuns(ctx)); err != nil {
			return err
		}
	}
	unknown, err := store.AssignLanes(ctx)
	if err != nil {
		return err
	}
	if len(unknown) > 0 {
		s.log.WarnContext(ctx, "jobs of unknown kinds are waiting", slog.Any("kinds", unknown))
	}
	if s.sales != nil {
		if err := store.Schedule(ctx, jobs.Job{Kind: jobSweep, RunAt: now.Add(10 * time.Second)}); err != nil {
			return err
		}
	}
	return store.Schedule(ctx,
		jobs.Job{Kind: jobPrune, RunAt: now.Add(time.Minute)},
		jobs.Job{Kind: jobPrunePaid, RunAt: now.Add(time.Minute)},
		jobs.Job{Kind: jobStock, RunAt: now.Add(time.Minute)},
		jobs.Job{Kind: connection.JobPrune, RunAt: now.Add(time.Minute)},
		jobs.Job{Kind: trigger.JobPrune, RunAt: now.Add(pruneTriggersAfter)},
		jobs.Job{Kind: tool.JobSweep, RunAt: now.Add(5 * time.Second)},
		jobs.Job{Kind: jobVault, RunAt: now.Add(5 * time.Second)})
}
