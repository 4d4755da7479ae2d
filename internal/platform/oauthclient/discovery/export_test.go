package discovery

// ChallengeParams reads a header field WWW-Authenticate.
func ChallengeParams(field string) map[string]string { return challengeParams(field) }
