package server

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// prepareTLS loads the development certificate, which is created at the first
// start and again when it is about to end.
func (s *Server) prepareTLS() error {
	if !s.cfg.DevTLS {
		return nil
	}
	certFile, keyFile := filepath.Join(s.cfg.DataDir, "dev-cert.pem"), filepath.Join(s.cfg.DataDir, "dev-key.pem")
	pair, err := tls.LoadX509KeyPair(certFile, keyFile)
	if err != nil || time.Until(pair.Leaf.NotAfter) < 24*time.Hour {
		if err := makeCertificate(certFile, keyFile); err != nil {
			return err
		}
		if pair, err = tls.LoadX509KeyPair(certFile, keyFile); err != nil {
			return fmt.Errorf("loading the development certificate: %w", err)
		}
	}
	s.tls = &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
	return nil
}

// trust is for clients of this very process.
func (s *Server) trust() *tls.Config {
	roots, err := x509.SystemCertPool()
	if err != nil {
		roots = x509.NewCertPool()
	}
	roots.AddCert(s.tls.Certificates[0].Leaf)
	return &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
}

func makeCertificate(certFile, keyFile string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return fmt.Errorf("making the development key: %w", err)
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return fmt.Errorf("making the development certificate: %w", err)
	}
	template := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: "ACE development"}, NotBefore: time.Now().Add(-time.Hour),
		NotAfter:              time.Now().AddDate(1, 0, 0),
		KeyUsage:              x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		BasicConstraintsValid: true, IsCA: true, DNSNames: []string{"localhost"},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
	}
	der, errCert := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	pkcs8, errKey := x509.MarshalPKCS8PrivateKey(key)
	if err := errors.Join(errCert, errKey); err != nil {
		return fmt.Errorf("making the development certificate: %w", err)
	}
	return errors.Join(writePEM(keyFile, "PRIVATE KEY", pkcs8, 0o600), writePEM(certFile, "CERTIFICATE", der, 0o644))
}

func writePEM(path, kind string, der []byte, mode os.FileMode) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("making the data folder: %w", err)
	}
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), mode); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return nil
}
