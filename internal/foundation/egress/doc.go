// Package egress is the only way out: every outbound HTTP call of the process
// is made with a client of a Guard, for a named Purpose.
//
//	request -> Target: parse, scheme, port, host name   (reason of a refusal)
//	        -> origins that the operator names for this purpose / our own hosts
//	        -> Transport of this purpose alone, no proxy from the environment
//	           -> dial hook looks at the address really dialled   <- rebinding
//	        -> answer: redirect? the next hop passes the same checks,
//	                   without credentials when the origin changes
//	                   body? bounded on the wire, decoded, and in ratio
//	        -> whole-request deadline, until the body is closed
//
// Because the address is judged when the socket connects, no spelling of a
// host, no DNS answer and no redirect leads into a private network. Options.Allow
// opens networks for development and private installations; link-local and
// metadata addresses stay shut even then. What the operator's settings name,
// such as an issuer in a private network, is open to the purpose that needs it
// (Purpose.Trusted) and to no other.
//
// Refusals are problems with the code target_not_allowed and a reason class;
// they never name the address that a host resolved to. Failures to connect are
// target_unreachable whether a port is closed or filtered.
package egress
