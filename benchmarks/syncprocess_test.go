package benchmarks

func syncTask([]string, func(string)) error { return nil }
