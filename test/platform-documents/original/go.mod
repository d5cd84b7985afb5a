module mlmodelscope.test/original

go 1.25.0

require (
	github.com/golang/snappy v1.0.0
	go.mongodb.org/mongo-driver/v2 v2.10.0
)
