package bench

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"net/url"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"

	"ace/internal/foundation/jobs"
	"ace/internal/foundation/sqldb"
	"ace/internal/foundation/sqldb/sqldbtest"
	"ace/internal/storage"
)

const (
	handled = 10_000 // jobs that one iteration claims and completes, at least
	workers = 128    // handlers at the same time: the lane of deliveries has as many
	conns   = 16     // connections to PostgreSQL
)

// BenchmarkJobs measures how fast jobs that do nothing are claimed and
// completed while so many wait. Beside the rate it reports the processor time of
// this process and of its PostgreSQL server together, which other load on the
// machine hardly changes. Each engine commits durably: SQLite with
// synchronous=FULL, PostgreSQL with fsync and synchronous_commit on, the same
// server for both queues. A job is complete when that is on the disk.
func BenchmarkJobs(b *testing.B) {
	for _, waiting := range []int{10_000, 300_000} {
		b.Run(fmt.Sprintf("ace/sqlite/%d", waiting), func(b *testing.B) {
			benchmarkACE(b, "sqlite:"+filepath.Join(b.TempDir(), "ace.db"), waiting)
		})
		b.Run(fmt.Sprintf("ace/postgres/%d", waiting), func(b *testing.B) {
			benchmarkACE(b, postgres(b), waiting)
		})
		b.Run(fmt.Sprintf("river/postgres/%d", waiting), func(b *testing.B) { benchmarkRiver(b, waiting) })
	}
}

// postgres returns the URL of an empty schema on the server of this process.
func postgres(b *testing.B) string {
	b.Helper()
	base, err := sqldbtest.DurableCluster()
	if err != nil {
		b.Fatal(err)
	}
	u, err := url.Parse(base)
	if err != nil {
		b.Fatal(err)
	}
	pool := openPool(b, base)
	schema := fmt.Sprintf("bench_%d", time.Now().UnixNano())
	exec(b, pool, "CREATE SCHEMA "+schema)
	b.Cleanup(func() {
		exec(b, pool, "DROP SCHEMA "+schema+" CASCADE")
		pool.Close()
	})
	q := u.Query()
	q.Set("search_path", schema)
	u.RawQuery = q.Encode()
	return u.String()
}

func openPool(b *testing.B, dsn string) *pgxpool.Pool {
	b.Helper()
	config, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		b.Fatal(err)
	}
	config.MaxConns = conns
	pool, err := pgxpool.NewWithConfig(context.Background(), config)
	if err != nil {
		b.Fatal(err)
	}
	return pool
}

func exec(b *testing.B, pool *pgxpool.Pool, statement string) {
	b.Helper()
	if _, err := pool.Exec(context.Background(), statement); err != nil {
		b.Fatalf("%s: %v", statement, err)
	}
}

// measure runs work until it has handled enough jobs, once for each iteration;
// fill makes sure that so many wait. work returns when what was handled is
// recorded.
func measure(b *testing.B, waiting int, fill func(waiting int), work func(handle func(), enough <-chan struct{})) {
	b.Helper()
	total, spent := int64(0), time.Duration(0)
	b.ResetTimer()
	for range b.N {
		b.StopTimer()
		fill(waiting)
		var done atomic.Int64
		enough := make(chan struct{})
		handle := func() {
			if done.Add(1) == handled {
				close(enough)
			}
		}
		before := processorTime(b)
		b.StartTimer()
		work(handle, enough)
		b.StopTimer()
		spent += processorTime(b) - before
		total += done.Load()
		b.StartTimer()
	}
	b.StopTimer()
	b.ReportMetric(float64(total)/b.Elapsed().Seconds(), "jobs/s")
	b.ReportMetric(float64(spent.Microseconds())/float64(total), "cpu-us/job")
	b.ReportMetric(0, "ns/op")
}

func benchmarkACE(b *testing.B, dsn string, waiting int) {
	ctx := context.Background()
	db, err := sqldb.Open(ctx, dsn, &sqldb.Options{MaxConns: conns})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if _, err := db.Migrate(ctx, storage.Migrations()); err != nil {
		b.Fatal(err)
	}
	lanes := jobs.NewLanes(map[string]jobs.Lane{"deliver": jobs.LaneDeliver})
	store := storage.New(db, lanes)
	log := slog.New(slog.DiscardHandler)
	empty := "DELETE FROM job"
	if db.Shared() {
		empty = "TRUNCATE job"
	}
	fill := func(waiting int) {
		err := db.Tx(ctx, func(tx *sql.Tx) error {
			if _, err := tx.ExecContext(ctx, empty); err != nil {
				return err
			}
			_, err := tx.ExecContext(
				ctx,
				`INSERT INTO job (kind, ref, lane, run_at, ready_at, lease_until, tries, token, sequence, reason)
				WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $1)
				SELECT 'deliver', 'evt_' || i || '|sink', 'deliver', 1000000000000 + i, 1000000000000 + i, 0, 0, 0,
				0, '' FROM n`,
				waiting,
			)
			return err
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	measure(b, waiting, fill, func(handle func(), enough <-chan struct{}) {
		worker := jobs.NewWorker(store, lanes, map[string]jobs.Handler{"deliver": {
			Run: func(context.Context, jobs.Job) error { handle(); return nil },
		}}, log, &jobs.Options{Budgets: map[jobs.Lane]int{jobs.LaneDeliver: workers}})
		go func() { <-enough; worker.Stop() }()
		worker.Run(ctx)
	})
}

type noop struct {
	Ref string `json:"ref"`
}

// Kind implements river.JobArgs.
func (noop) Kind() string { return "deliver" }

type noopWorker struct {
	river.WorkerDefaults[noop]
	handle func()
}

// Work implements river.Worker.
func (w *noopWorker) Work(context.Context, *river.Job[noop]) error { w.handle(); return nil }

func benchmarkRiver(b *testing.B, waiting int) {
	ctx := context.Background()
	pool := openPool(b, postgres(b))
	defer pool.Close()
	driver := riverpgxv5.New(pool)
	migrator, err := rivermigrate.New(driver, nil)
	if err != nil {
		b.Fatal(err)
	}
	if _, err := migrator.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
		b.Fatal(err)
	}
	insert, err := river.NewClient(driver, &river.Config{})
	if err != nil {
		b.Fatal(err)
	}
	fill := func(waiting int) {
		exec(b, pool, "TRUNCATE river_job")
		const at = 10_000
		for from := 0; from < waiting; from += at {
			params := make([]river.InsertManyParams, 0, at)
			for i := range min(at, waiting-from) {
				params = append(params, river.InsertManyParams{Args: noop{fmt.Sprintf("evt_%d|sink", from+i)}})
			}
			if _, err := insert.InsertManyFast(ctx, params); err != nil {
				b.Fatal(err)
			}
		}
	}
	measure(b, waiting, fill, func(handle func(), enough <-chan struct{}) {
		all := river.NewWorkers()
		river.AddWorker(all, &noopWorker{handle: handle})
		client, err := river.NewClient(driver, &river.Config{
			Workers: all, Logger: slog.New(slog.DiscardHandler),
			Queues: map[string]river.QueueConfig{
				river.QueueDefault: {
					MaxWorkers:        workers,
					FetchCooldown:     time.Millisecond,
					FetchPollInterval: 10 * time.Millisecond,
				},
			},
		})
		if err != nil {
			b.Fatal(err)
		}
		if err := client.Start(ctx); err != nil {
			b.Fatal(err)
		}
		<-enough
		if err := client.Stop(ctx); err != nil { // waits until what was handled is recorded
			b.Fatal(err)
		}
	})
}
