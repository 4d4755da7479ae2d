package server

import "ace/internal/storefront/order"

// sinks are where order events go, by name.
func (s *Server) sinks() (map[string]order.Sink, error) {
	return map[string]order.Sink{}, nil
}
