// Package bench measures ACE beside other software on the same machine. It is a
// module of its own, so that the others are no modules of the product.
//
//	make bench-jobs    jobs beside River, on the same PostgreSQL
//	make search-eval   finding tools beside bleve, on labelled tasks
//	make catalog-requests
//	                   requests of derived tools, checked against the descriptions
package bench
