package archive

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/aiws-reducer/aiws-reducer/schema"
)

const headName = "HEAD"

// head is the last block that is known to be on disk.
type head struct {
	seq  uint64
	hash [sha256.Size]byte
}

// headLine is the first line of HEAD.
type headLine struct {
	block int64
	hash  string
}

// Members implements [schema.Record].
func (h *headLine) Members(m *schema.Members) {
	m.Int("block", &h.block)
	m.Hex("blockHash", &h.hash, 2*sha256.Size)
}

func (h head) encode() []byte {
	line := append(schema.AppendRecord(nil, &headLine{block: int64(h.seq), hash: hex.EncodeToString(h.hash[:])}), '\n')
	sum := sha256.Sum256(line)
	return append(append(line, hex.EncodeToString(sum[:])...), '\n')
}

// errHead: HEAD is not what was written.
var errHead = errors.New("it is not what was written")

// readHead returns nil without an error when there is no HEAD. The error is
// errHead when it is damaged.
func readHead(dir string) (*head, error) {
	text, err := os.ReadFile(filepath.Join(dir, headName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	first, _, _ := bytes.Cut(text, []byte{'\n'})
	var line headLine
	if err := decodeLine(first, &line); err != nil {
		return nil, errHead
	}
	h := &head{seq: uint64(line.block)}
	if _, err := hex.Decode(h.hash[:], []byte(line.hash)); err != nil || !bytes.Equal(h.encode(), text) {
		return nil, errHead
	}
	return h, nil
}

// write replaces HEAD in one step.
func (h head) write(dir string) error {
	return replaceFile(dir, headName, h.encode())
}

// replaceFile writes a file under another name, syncs it and gives it its name.
func replaceFile(dir, name string, content []byte) error {
	temporary := filepath.Join(dir, name+".new")
	file, err := os.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o640)
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	if err = errors.Join(err, syncFile(file), file.Close()); err != nil {
		return err
	}
	if err := os.Rename(temporary, filepath.Join(dir, name)); err != nil {
		return err
	}
	return syncDir(dir)
}

// syncFile puts a file on disk; tests that cut no power do without.
var syncFile = (*os.File).Sync

// syncDir makes names durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(ignoreUnsupported(syncFile(d)), d.Close())
}

// ignoreUnsupported: not every file system syncs directories.
func ignoreUnsupported(err error) error {
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, syscall.EINVAL) || errors.Is(err, fs.ErrPermission) {
		return nil
	}
	return err
}
