package platformhttp

// Rules is the table of permissions, for the test that walks over it.
var Rules = rules
