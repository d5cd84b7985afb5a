// The platform's analyses of models and layers, as far as they read its documents: rewritten after c3sr/evaluation
// (evaluation.go, performance.go, utils.go, summary_model.go, summary_layer.go, num.go), with the names and types of its
// fields, its selection and its statistics. It decodes BSON with MongoDB's own driver.
//
//	original FOLDER SOURCE FILTER
//
// FOLDER has evaluation.bson and performance.bson. SOURCE is the place of the spans: url (versions since 28 July 2019)
// or embedded (versions of the four days before). FILTER is JSON: {"model.name": …, "batch_size": …}.
package main

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/golang/snappy"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Without a tag, a field's name in BSON is its name in Go, in lower case.
type frameworkManifest struct {
	Name    string
	Version string
}

type modelManifest struct {
	Name      string
	Version   string
	Framework *frameworkManifest
}

type cpu struct {
	ModelName string
	CacheSize string
	CPUCores  int32
	Flags     []string
}

type machine struct {
	Hostname   string
	KernelArch string
	OSName     string
	MemTotal   uint64
	CPU        []*cpu
}

type evaluation struct {
	ID                  bson.ObjectID     `bson:"_id,omitempty"`
	RunID               string            `bson:"run_id,omitempty"`
	CreatedAt           time.Time         `bson:"created_at,omitempty"`
	Framework           frameworkManifest `bson:"framework,omitempty"`
	Model               modelManifest     `bson:"model,omitempty"`
	MachineArchitecture string            `bson:"machine_architecture,omitempty"`
	UsingGPU            bool              `bson:"using_gpu,omitempty"`
	BatchSize           int               `bson:"batch_size,omitempty"`
	Hostname            string            `bson:"hostname,omitempty"`
	TraceLevel          string            `bson:"trace_level,omitempty"`
	PerformanceID       bson.ObjectID     `bson:"performance_id,omitempty"`
	Public              bool              `bson:"public,omitempty"`
	MachineInformation  *machine          `bson:"machine_information,omitempty"`
	GPUDriverVersion    *string           `bson:"gpu_driver,omitempty"`
	Metadata            map[string]string `bson:"metadata,omitempty"`
}

type performance struct {
	ID              bson.ObjectID `bson:"_id,omitempty"`
	CreatedAt       time.Time     `bson:"created_at,omitempty"`
	TraceCompressed []byte        `bson:"trace,omitempty"`
	TraceLevel      int32         `bson:"trace_level,omitempty"`
	TraceURL        string        `bson:"trace_url,omitempty"`
}

// Jaeger's model/json.
type tag struct {
	Key   string `json:"key"`
	Value any    `json:"value"`
}

type reference struct {
	RefType string `json:"refType"`
	SpanID  string `json:"spanID"`
}

type span struct {
	SpanID        string      `json:"spanID"`
	ParentSpanID  string      `json:"parentSpanID"`
	OperationName string      `json:"operationName"`
	References    []reference `json:"references"`
	Duration      uint64      `json:"duration"`
	Tags          []tag       `json:"tags"`
}

type traceInformation struct {
	Traces []struct {
		Spans []span `json:"spans"`
	} `json:"data"`
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "original:", err)
		os.Exit(1)
	}
}

func documents(path string) []bson.Raw {
	bytes, err := os.ReadFile(path)
	check(err)
	var found []bson.Raw
	for len(bytes) > 0 {
		length := binary.LittleEndian.Uint32(bytes)
		found = append(found, bson.Raw(bytes[:length]))
		bytes = bytes[length:]
	}
	return found
}

// matches reports whether the fields at the paths of a filter equal the filter's values, as in MongoDB.
func matches(document bson.Raw, filter map[string]any) bool {
	for path, wanted := range filter {
		value, err := document.LookupErr(strings.Split(path, ".")...)
		if err != nil {
			return false
		}
		switch wanted := wanted.(type) {
		case string:
			if text, ok := value.StringValueOK(); !ok || text != wanted {
				return false
			}
		case float64:
			if number, ok := value.AsInt64OK(); !ok || float64(number) != wanted {
				return false
			}
		}
	}
	return true
}

func evaluations(folder string, filter map[string]any) []evaluation {
	var found []evaluation
	for _, document := range documents(filepath.Join(folder, "evaluation.bson")) {
		if !matches(document, filter) {
			continue
		}
		var one evaluation
		check(bson.Unmarshal(document, &one))
		found = append(found, one)
	}
	return found
}

func (p performance) spans(source string) []span {
	var text []byte
	// Every version decompresses the trace, even if it does not take spans from it.
	compressed, err := base64.StdEncoding.DecodeString(string(p.TraceCompressed))
	check(err)
	text, err = snappy.Decode(nil, compressed)
	check(err)
	var information traceInformation
	if source == "embedded" {
		check(json.Unmarshal(text, &information))
	} else {
		response, err := http.Get(p.TraceURL)
		check(err)
		defer response.Body.Close()
		check(json.NewDecoder(response.Body).Decode(&information))
	}
	var spans []span
	for _, trace := range information.Traces {
		spans = append(spans, trace.Spans...)
	}
	return spans
}

func spansOf(folder, source string, found []evaluation) ([]span, []int32) {
	var spans []span
	var levels []int32
	for _, one := range found {
		matching := 0
		for _, document := range documents(filepath.Join(folder, "performance.bson")) {
			var candidate performance
			check(bson.Unmarshal(document, &candidate))
			if candidate.ID != one.PerformanceID {
				continue
			}
			matching++
			spans = append(spans, candidate.spans(source)...)
			levels = append(levels, candidate.TraceLevel)
		}
		if matching != 1 {
			check(fmt.Errorf("expecting one performance output, found %d", matching))
		}
	}
	return spans, levels
}

func textTag(s span, key string) string {
	for _, one := range s.Tags {
		if one.Key == key {
			return fmt.Sprint(one.Value)
		}
	}
	return ""
}

func predictions(spans []span, level string) []span {
	var found []span
	for _, one := range spans {
		if strings.ToLower(one.OperationName) == "c_predict" && textTag(one, "evaluation_trace_level") == level {
			found = append(found, one)
		}
	}
	return found
}

func trimmedMean(durations []uint64) float64 {
	data := make([]float64, len(durations))
	for i, one := range durations {
		data[i] = float64(one)
	}
	count := len(data)
	sort.Float64s(data)
	trimmed := data
	switch {
	case count == 0:
		return 0
	case count == 3:
		return data[1]
	case count > 3:
		cut := int(math.Floor(float64(count) * 0.2))
		trimmed = data[cut:min(count-1, count-cut)]
	}
	sum := 0.0
	for _, one := range trimmed {
		sum += one
	}
	return math.Round(sum/float64(len(trimmed))*1000) / 1000
}

type modelRow struct {
	BatchSize int      `json:"batch_size"`
	Durations []uint64 `json:"durations"`
	LatencyMs float64  `json:"latency_ms"`
	// The cells of the platform's table.
	Base []string `json:"base"`
}

// base fails in the same cases as the platform's table: it dereferences pointers and reads the first processor.
func (e evaluation) base() []string {
	return []string{
		e.Model.Name, e.Model.Version, e.Model.Framework.Name, e.Model.Framework.Version, e.Framework.Name,
		e.Framework.Version, strconv.FormatBool(e.UsingGPU), e.TraceLevel, e.Hostname, e.MachineArchitecture,
		strconv.FormatUint(e.MachineInformation.MemTotal, 10), e.MachineInformation.CPU[0].ModelName,
		*e.GPUDriverVersion, e.CreatedAt.UTC().Format(time.RFC3339Nano),
	}
}

func models(folder, source string, found []evaluation) []modelRow {
	groups := map[int][]evaluation{}
	for _, one := range found {
		groups[one.BatchSize] = append(groups[one.BatchSize], one)
	}
	rows := []modelRow{}
	for batchSize, group := range groups {
		spans, _ := spansOf(folder, source, group)
		var durations []uint64
		for _, one := range predictions(spans, "MODEL_TRACE") {
			durations = append(durations, one.Duration)
		}
		if mean := trimmedMean(durations); mean != 0 {
			rows = append(rows, modelRow{batchSize, durations, mean / float64(batchSize*1000), group[0].base()})
		}
	}
	sort.Slice(rows, func(i, j int) bool { return rows[i].BatchSize < rows[j].BatchSize })
	return rows
}

type layerRow struct {
	Index    int     `json:"index"`
	Name     string  `json:"name"`
	Type     string  `json:"type"`
	Shape    string  `json:"shape"`
	Duration float64 `json:"duration"`
}

func parentIndex(s span, parents []span) int {
	for i, parent := range parents {
		if s.ParentSpanID == parent.SpanID {
			return i
		}
		for _, one := range s.References {
			if one.RefType == "CHILD_OF" && one.SpanID == parent.SpanID {
				return i
			}
		}
	}
	return -1
}

func layers(folder, source string, found []evaluation) []layerRow {
	spans, _ := spansOf(folder, source, found)
	parents := predictions(spans, "FRAMEWORK_TRACE")
	groups := make([][]span, len(parents))
	for _, one := range spans {
		if i := parentIndex(one, parents); i >= 0 && textTag(one, "trace_level") == "FRAMEWORK_TRACE" {
			groups[i] = append(groups[i], one)
		}
	}
	rows := []layerRow{}
	if len(groups) == 0 {
		return rows
	}
	index := func(s span) int {
		number, err := strconv.Atoi(textTag(s, "layer_sequence_index"))
		check(err)
		return number
	}
	for _, first := range groups[0] {
		if strings.HasPrefix(first.OperationName, "_") {
			continue
		}
		var durations []uint64
		for _, group := range groups {
			for _, other := range group {
				if other.OperationName == first.OperationName && index(other) == index(first) {
					durations = append(durations, other.Duration)
				}
			}
		}
		rows = append(rows, layerRow{
			index(first), first.OperationName, textTag(first, "op_name"), textTag(first, "shape"), trimmedMean(durations),
		})
	}
	sort.SliceStable(rows, func(i, j int) bool { return rows[i].Index < rows[j].Index })
	return rows
}

func main() {
	if len(os.Args) != 4 {
		check(fmt.Errorf("expected FOLDER SOURCE FILTER"))
	}
	folder, source := os.Args[1], os.Args[2]
	var filter map[string]any
	check(json.Unmarshal([]byte(os.Args[3]), &filter))
	found := evaluations(folder, filter)
	_, levels := spansOf(folder, source, found)
	check(json.NewEncoder(os.Stdout).Encode(map[string]any{
		"trace_levels": levels,
		"models":       models(folder, source, found),
		"layers":       layers(folder, source, found),
	}))
}
