package config

import (
	"fmt"
	"os"
	"strings"
)

// maxSecret bounds the file of a secret, in bytes.
const maxSecret = 64 << 10

// Secrets are the variables of settings that hold secrets. Each may be given as
// a file instead, by a variable with _FILE at the end.
func Secrets() []string {
	return []string{
		"ACE_DATABASE_URL", "ACE_ORDER_WEBHOOK_SECRET", "ACE_REDIS_URL", "ACE_SMTP_URL", "ACE_STRIPE_API_KEY",
		"ACE_STRIPE_WEBHOOK_SECRET", "ACE_X402_RPC_URL",
	}
}

// SecretFiles are the variables that name files with the values of Secrets.
func SecretFiles() []string {
	names := Secrets()
	for i := range names {
		names[i] += "_FILE"
	}
	return names
}

// LoadSecrets sets each of Secrets whose file is named, without the white space
// around its value. It refuses a secret that is given in both ways, and files
// that other users can write. Its errors never hold what is in a file.
func LoadSecrets() error {
	for _, name := range Secrets() {
		path := os.Getenv(name + "_FILE")
		if path == "" {
			continue
		}
		if _, set := os.LookupEnv(name); set {
			return fmt.Errorf("both %s and %s_FILE are set: remove one", name, name)
		}
		value, err := readSecret(path)
		if err == nil {
			err = os.Setenv(name, value)
		}
		if err != nil {
			return fmt.Errorf("%s_FILE: %w", name, err)
		}
	}
	return nil
}

func readSecret(path string) (string, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return "", fmt.Errorf("reading the file of a secret: %w", err)
	case !info.Mode().IsRegular():
		return "", fmt.Errorf("%s is no file", path)
	case info.Mode().Perm()&0o002 != 0:
		return "", fmt.Errorf("every user can write %s: chmod o-w it, and change the secret", path)
	case info.Size() > maxSecret:
		return "", fmt.Errorf("%s is larger than %d bytes", path, maxSecret)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("reading the file of a secret: %w", err)
	}
	value := strings.TrimSpace(string(text))
	if value == "" {
		return "", fmt.Errorf("%s is empty", path)
	}
	return value, nil
}
