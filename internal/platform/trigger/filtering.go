package trigger

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"ace/internal/foundation/problem"
	"ace/internal/platform/app"
	"ace/internal/platform/trigger/filter"
)

// filter returns the filter of an expression; nil for an empty one. Its problem is
// filter_invalid (Unprocessable), with the place of each mistake.
func (s *Service) filter(expression string) (*filter.Filter, error) {
	if expression == "" {
		return nil, nil //nolint:nilnil // everything is meant
	}
	f, err := s.Filters.Compile(expression)
	if _, wrong := errors.AsType[filter.Mistakes](err); wrong {
		return nil, problem.New(problem.Unprocessable, "filter_invalid", "The filter is wrong: "+err.Error()+".").
			At("/filter").Advise("fix_arguments")
	}
	return f, err
}

// addNew adds an event to a batch; one that the filter of the trigger leaves out is
// remembered, so that a later poll knows it. Where a filter fails the event is
// posted: nothing is lost by a mistake that showed late.
func (s *Service) addNew(ctx context.Context, b *Batch, t *Trigger, def *app.Trigger, f *filter.Filter, key string,
	at time.Time, data any,
) {
	if f != nil {
		meant, err := f.Meant(data)
		if err != nil {
			s.options.Log.InfoContext(ctx, "filter of a trigger failed", slog.String("trigger_id", t.ID),
				slog.Any("error", err))
		} else if !meant {
			b.Seen = append(b.Seen, Item{Key: key})
			return
		}
	}
	b.Items = append(b.Items, s.item(t, def, key, at, data))
}
