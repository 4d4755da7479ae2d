package payer

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"ace/internal/protocol/x402/evm"
)

// WalletFile is the name of the development wallet in a data folder: one key,
// as hex, for its owner alone (0600).
const WalletFile = "wallet.key"

// ErrNoWallet says that a folder holds no wallet.
var ErrNoWallet = errors.New("there is no wallet yet; make one with \"ace wallet new\"")

// OpenWallet reads the key of a data folder. A file that others may read is
// refused.
func OpenWallet(folder string) (evm.Key, error) {
	path := filepath.Join(folder, WalletFile)
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return evm.Key{}, ErrNoWallet
	case err != nil:
		return evm.Key{}, fmt.Errorf("opening the wallet: %w", err)
	case info.Mode().Perm()&0o077 != 0 && runtime.GOOS != "windows":
		return evm.Key{}, fmt.Errorf("others may read the wallet %s; run: chmod 600 %s", path, path)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return evm.Key{}, fmt.Errorf("opening the wallet: %w", err)
	}
	key, err := evm.ParseKey(string(text))
	if err != nil {
		return evm.Key{}, fmt.Errorf("the wallet %s is damaged: %w", path, err)
	}
	return key, nil
}

// NewWallet creates a wallet key in a data folder. It never replaces one.
func NewWallet(folder string) (evm.Key, error) {
	key, err := evm.NewKey()
	if err != nil {
		return evm.Key{}, err
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return evm.Key{}, fmt.Errorf("making the folder of the wallet: %w", err)
	}
	path := filepath.Join(folder, WalletFile)
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return evm.Key{}, fmt.Errorf("there is a wallet already, at %s; move it away to make another", path)
	}
	if err != nil {
		return evm.Key{}, fmt.Errorf("making the wallet: %w", err)
	}
	_, err = file.WriteString(key.Secret() + "\n")
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return evm.Key{}, fmt.Errorf("writing the wallet: %w", err)
	}
	return key, nil
}

// WalletOf opens the wallet of a data folder, or makes one where there is none.
func WalletOf(folder string) (key evm.Key, made bool, err error) {
	key, err = OpenWallet(folder)
	if errors.Is(err, ErrNoWallet) {
		key, err = NewWallet(folder)
		return key, err == nil, err
	}
	return key, false, err
}
