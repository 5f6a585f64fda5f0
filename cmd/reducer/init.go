package main

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/aiws-reducer/aiws-reducer/cmd/internal/auth"
	"github.com/aiws-reducer/aiws-reducer/cmd/internal/cli"
	"github.com/aiws-reducer/aiws-reducer/cmd/internal/exit"
)

// initializing holds the flags of init.
type initializing struct {
	users     []string
	passwords bool
	tls       auth.TLS
	contract  contractFlags
}

func newInit() *cobra.Command {
	var in initializing
	c := &cobra.Command{
		Use:   "init DIR",
		Short: "write a server configuration with a user for each role, and a strict contract",
		Long: "Init makes DIR, readable by you alone, and prints what each user may do. In it are\n\n" +
			"  nats.conf            the configuration of a NATS server\n" +
			"  NAME.nk              the seed of each user's nkey; NAME.password with --passwords\n" +
			"  open-contract.jsonl  commands for ingest: each opens a contract with a strict policy\n\n" +
			"Users send commands through aiws.submit, as themselves only; none may use JetStream.\n" +
			"There is one user for each role, named after it: " + strings.Join(auth.Roles(), ", ") + ".\n" +
			"Without --action and --resource the contract allows none. Nothing is overwritten.",
		Example: cli.Example(
			"reducer init secrets --action purchase --resource computer-shop --budget 1600",
			"reducer init secrets --user buyer:agent:c1   # an agent who sees and touches the contract c1 only",
			"reducer init secrets --passwords --tls-cert server.pem --tls-key server.key",
			"reducer serve --nats-config secrets/nats.conf",
		),
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return in.run(c.OutOrStdout(), args[0], time.Now()) },
	}
	flags := c.Flags()
	flags.StringArrayVar(&in.users, "user", nil, "one more user, as `NAME:ROLE[:CONTRACT]`; may be repeated")
	flags.BoolVar(&in.passwords, "passwords", false, "passwords instead of nkeys, for clients that know no others; the server keeps bcrypt hashes")
	flags.StringVar(&in.tls.Cert, "tls-cert", "", "`FILE` with the server's certificate: clients have to use TLS")
	flags.StringVar(&in.tls.Key, "tls-key", "", "`FILE` with the key of the certificate, readable by its owner alone")
	flags.StringVar(&in.tls.CA, "tls-ca", "", "`FILE` with authorities: clients have to show a certificate of theirs")
	in.contract.add(flags)
	return c
}

// run makes everything in memory, looks whether server and rules take it, and
// writes it in one step.
func (in *initializing) run(out io.Writer, dir string, now time.Time) error {
	config := auth.Config{}
	var err error
	if config.Users, err = initUsers(in.users); err != nil {
		return exit.With(exit.Usage, err)
	}
	contracts, opening, err := in.contract.commands(config.Users, now)
	if err != nil {
		return exit.With(exit.Usage, err)
	}
	if in.tls != (auth.TLS{}) {
		if config.TLS, err = auth.NewTLS(in.tls.Cert, in.tls.Key, in.tls.CA, now); err != nil {
			return err
		}
	}
	files, err := in.secrets(&config)
	if err != nil {
		return err
	}
	if err := readable(config.String()); err != nil {
		return err
	}
	files = append(files, auth.File{Name: "nats.conf", Data: []byte(config.String())}, auth.File{Name: "open-contract.jsonl", Data: opening})
	if err := auth.WriteDirectory(dir, files); err != nil {
		return err
	}
	in.tell(out, dir, config.Users, contracts)
	return nil
}

// initUsers are one for each role and those asked for; a name stands once.
func initUsers(more []string) ([]auth.User, error) {
	var users []auth.User
	seen := map[string]bool{"reducer": true}
	for _, role := range auth.Roles() {
		users = append(users, auth.User{Name: role, Role: role})
		seen[role] = true
	}
	for _, text := range more {
		u, err := auth.ParseUser(text)
		if err != nil {
			return nil, err
		}
		if seen[u.Name] {
			return nil, fmt.Errorf("user %q: there is one of this name already", u.Name)
		}
		seen[u.Name] = true
		users = append(users, u)
	}
	return users, nil
}

// tell prints what each user may do, and what comes next.
func (in *initializing) tell(out io.Writer, dir string, users []auth.User, contracts []string) {
	var questions []string
	for _, q := range auth.Questions {
		questions = append(questions, string(q))
	}
	for _, u := range users {
		fmt.Fprintf(out, "%s (%s): sends %s; asks %s; inboxes %s.>\n",
			u.Name, u.Role, strings.Join(append(auth.Commands(u.Role), "nothing else"), ", "), strings.Join(questions, ", "), u.Inbox())
	}
	path := func(name string) string { return filepath.Join(dir, name) }
	fmt.Fprintf(out, "\nStart the server:\n  reducer serve --nats-config %s\n", path("nats.conf"))
	fmt.Fprintf(out, "Open %s, once the terms in the file are what you want:\n  ingest --wait --nkey %s %s\n",
		strings.Join(contracts, ", "), path("reducer.nk"), path("open-contract.jsonl"))
	fmt.Fprintf(out, "Log in as one of the users:\n  reducer show runs --contract %s %s --inbox-prefix %s\n",
		contracts[0], in.login(path, auth.Opener), auth.User{Name: auth.Opener}.Inbox())
	if in.tls != (auth.TLS{}) {
		fmt.Fprintln(out, "Clients use TLS: give them --tls-ca with the authority of your certificate where it is not a public one.")
	}
	if in.tls.CA != "" {
		fmt.Fprintln(out, "They show a certificate of their own too: --tls-cert, --tls-key.")
	}
}

// login are the flags that a user logs in with.
func (in *initializing) login(path func(string) string, name string) string {
	if in.passwords {
		return "--user " + name + " --password-file " + path(name+".password")
	}
	return "--nkey " + path(name+".nk")
}
