package connecthttp

import (
	"context"

	"ace/internal/platform/connection"
	"ace/internal/platform/platformhttp/findhttp"
)

// States implements findhttp.Connections.
type States struct{ *connection.Service }

// AppStates implements findhttp.Connections. Connections that are switched off do
// not count.
func (s States) AppStates(ctx context.Context, accountID, endUser string) (map[string]findhttp.AppState, error) {
	list, err := s.List(ctx, accountID, connection.Query{EndUser: endUser})
	if err != nil {
		return nil, err
	}
	states := map[string]findhttp.AppState{}
	only := map[string]string{} // the one that works, of apps with one
	for _, c := range list {
		state := states[c.App]
		switch c.Status {
		case connection.Active, connection.Failing:
			only[c.App] = c.ID
			if state.Status == connected {
				only[c.App] = ""
			}
			state.Status = connected
		case connection.NeedsReconnect:
			if state.Status == "" {
				state.Status = string(connection.NeedsReconnect)
			}
		default:
			continue
		}
		state.Count++
		if c.Default {
			state.DefaultID = c.ID
		}
		states[c.App] = state
	}
	for id, state := range states {
		if state.DefaultID == "" && only[id] != "" {
			state.DefaultID = only[id]
			states[id] = state
		}
	}
	return states, nil
}

const connected = "connected"
