// Command services measures the website services on published websites.
//
//	sites.txt       which sites, and in which packages they were published
//	judgements.txt  what a person says about their pages: name and opening
//	serve           all sites on one listener on loopback, each under its host
//	evaluate        the three services on each site, compared with judgements
//	main            the tables
//
// scripts/services-eval brings the packages and runs this command.
package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// site is a published website.
type site struct {
	host, folder, first, kind string
	apart                     bool // no rule was made for it
}

func main() {
	if err := run(context.Background()); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "services:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	dir := flag.String("dir", ".cache/sites", "folder of the unpacked packages")
	only := flag.String("site", "", "host of the one site to measure")
	dump := flag.String("dump", "", "folder to write what the services delivered to")
	flag.Parse()
	sites, err := readSites("test/services/sites.txt", *dir)
	if err != nil {
		return err
	}
	judged, err := readJudgements("test/services/judgements.txt")
	if err != nil {
		return err
	}
	if *only != "" {
		sites = slices.DeleteFunc(sites, func(s site) bool { return s.host != *only })
	}
	if len(sites) == 0 {
		return errors.New("no site is there: run scripts/services-eval")
	}
	server, err := serve(sites)
	if err != nil {
		return err
	}
	defer server.close()
	var results []*result
	for _, s := range sites {
		r := evaluate(ctx, server, s, judged[s.host])
		results = append(results, r)
		if *dump != "" {
			if err := r.write(*dump); err != nil {
				return err
			}
		}
	}
	report(os.Stdout, results)
	return nil
}

// readSites returns the sites of the list whose folder is there.
func readSites(file, dir string) ([]site, error) {
	var sites []site
	err := eachLine(file, func(fields []string) error {
		if len(fields) != 7 {
			return fmt.Errorf("%s: %q has not seven fields", file, fields)
		}
		s := site{
			host: fields[0], folder: filepath.Join(dir, fields[0], fields[3]), first: fields[4], kind: fields[5],
			apart: fields[6] == "apart",
		}
		if _, err := os.Stat(s.folder); err == nil {
			sites = append(sites, s)
		}
		return nil
	})
	return sites, err
}

// judgement is what a person says about a page.
type judgement struct {
	names   []string // acceptable; the first is the best
	opening string   // how its first prose begins; empty: it has none
}

// readJudgements returns the judgements by host and path. A line is
// "host/path | name / other name | first words of the opening, or -".
func readJudgements(file string) (map[string]map[string]judgement, error) {
	all := map[string]map[string]judgement{}
	err := eachLine(file, func(fields []string) error {
		if len(fields) != 3 {
			return fmt.Errorf("%s: %q has not three fields", file, fields)
		}
		host, path, _ := strings.Cut(fields[0], "/")
		if all[host] == nil {
			all[host] = map[string]judgement{}
		}
		j := judgement{opening: strings.TrimPrefix(fields[2], "-")}
		for name := range strings.SplitSeq(fields[1], " / ") {
			j.names = append(j.names, strings.TrimSpace(name))
		}
		all[host]["/"+path] = j
		return nil
	})
	return all, err
}

// eachLine calls read with the fields of each line that is no remark.
func eachLine(file string, read func(fields []string) error) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	scanner := bufio.NewScanner(f)
	for scanner.Scan() {
		line := strings.TrimSpace(scanner.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		fields := strings.Split(line, " | ")
		for i := range fields {
			fields[i] = strings.TrimSpace(fields[i])
		}
		if err := read(fields); err != nil {
			return err
		}
	}
	return cmp.Or(scanner.Err(), nil)
}
