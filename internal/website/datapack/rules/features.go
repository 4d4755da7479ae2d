package rules

// FeaturesChecked is when the tables of this file were last compared with the
// documentation of Google Search.
const FeaturesChecked = "2026-11-21"

const docs = "https://developers.google.com/search/docs/appearance/structured-data/"

// feature is one kind of rich result. Required and recommended properties are
// paths from the thing; "a|b" is one or the other.
type feature struct {
	id, name    string
	types       []string // with the types below them
	but         []string // types that it is not for
	required    []string
	recommended []string
	docs        string
}

// features are what Google Search shows rich results for. Those without
// required properties ask for as many of the recommended ones as apply.
var features = []feature{
	{
		id: "article", name: "Article", types: []string{"Article"}, docs: docs + "article",
		recommended: []string{
			"headline", "image", "datePublished", "dateModified", "author", "author.name|author",
			"author.url|author.sameAs",
		},
	},
	{
		id: "breadcrumb", name: "Breadcrumb", types: []string{"BreadcrumbList"}, docs: docs + "breadcrumb",
		required: []string{
			"itemListElement", "itemListElement.position",
			"itemListElement.name|itemListElement.item.name",
		},
	},
	{
		id: "course_list", name: "Course list", types: []string{"Course"}, docs: docs + "course",
		required: []string{"name", "description"}, recommended: []string{"provider"},
	},
	{
		id: "dataset", name: "Dataset", types: []string{"Dataset"}, docs: docs + "dataset",
		required: []string{"name", "description"}, recommended: []string{
			"creator", "license",
			"distribution.contentUrl", "distribution.encodingFormat", "identifier", "keywords", "temporalCoverage",
			"spatialCoverage",
		},
	},
	{
		id: "discussion_forum", name: "Discussion forum", types: []string{"DiscussionForumPosting"},
		docs:        docs + "discussion-forum",
		required:    []string{"author.name|author", "datePublished", "text|image|video|sharedContent"},
		recommended: []string{"author.url", "headline", "comment", "interactionStatistic", "url"},
	},
	{
		id: "event", name: "Event", types: []string{"Event"}, docs: docs + "event",
		required:    []string{"name", "startDate", "location", "location.address|location.url"},
		recommended: []string{"endDate", "eventStatus", "offers", "image", "organizer", "performer", "description"},
	},
	{
		id: "job_posting", name: "Job posting", types: []string{"JobPosting"}, docs: docs + "job-posting",
		required: []string{
			"title", "description", "datePosted", "hiringOrganization",
			"jobLocation|applicantLocationRequirements",
		}, recommended: []string{
			"validThrough", "employmentType",
			"baseSalary", "identifier", "directApply",
		},
	},
	{
		id: "local_business", name: "Local business", types: []string{"LocalBusiness"}, docs: docs + "local-business",
		required: []string{"name", "address"}, recommended: []string{
			"geo", "openingHoursSpecification|openingHours",
			"telephone", "url", "priceRange", "image",
		},
	},
	{
		id: "merchant_listing", name: "Merchant listing", types: []string{"Product"}, but: []string{"ProductGroup"},
		docs: docs + "merchant-listing",
		required: []string{
			"name", "image", "offers", "offers.price|offers.priceSpecification.price",
			"offers.priceCurrency|offers.priceSpecification.priceCurrency",
		},
		recommended: []string{
			"description", "brand", "gtin|gtin8|gtin12|gtin13|gtin14|isbn|mpn", "sku",
			"offers.availability", "offers.itemCondition", "offers.shippingDetails", "offers.hasMerchantReturnPolicy",
		},
	},
	{
		id: "movie", name: "Movie carousel", types: []string{"Movie"}, docs: docs + "movie",
		required: []string{"name", "image"}, recommended: []string{
			"dateCreated", "director", "aggregateRating",
			"review",
		},
	},
	{
		id: "organization", name: "Organization", types: []string{"Organization"}, but: []string{"LocalBusiness"},
		docs: docs + "organization",
		recommended: []string{
			"name", "url", "logo", "sameAs", "contactPoint|telephone|email", "address", "legalName",
			"vatID|taxID|iso6523Code",
		},
	},
	{
		id: "product_snippet", name: "Product snippet", types: []string{"Product"}, but: []string{"ProductGroup"},
		docs:     docs + "product-snippet",
		required: []string{"name", "offers|review|aggregateRating"},
		recommended: []string{
			"offers.price|offers.lowPrice", "offers.priceCurrency", "offers.availability",
			"aggregateRating", "review",
		},
	},
	{
		id: "profile_page", name: "Profile page", types: []string{"ProfilePage"}, docs: docs + "profile-page",
		required: []string{"mainEntity", "mainEntity.name|mainEntity.alternateName"},
		recommended: []string{
			"dateCreated", "dateModified", "mainEntity.image", "mainEntity.sameAs",
			"mainEntity.description",
		},
	},
	{
		id: "qa_page", name: "Q&A", types: []string{"QAPage"}, docs: docs + "qapage",
		required: []string{
			"mainEntity", "mainEntity.name", "mainEntity.answerCount",
			"mainEntity.acceptedAnswer|mainEntity.suggestedAnswer",
		},
		recommended: []string{
			"mainEntity.author", "mainEntity.datePublished|mainEntity.dateCreated", "mainEntity.text",
			"mainEntity.upvoteCount",
		},
	},
	{
		id: "recipe", name: "Recipe", types: []string{"Recipe"}, docs: docs + "recipe",
		required: []string{"name", "image"},
		recommended: []string{
			"author", "datePublished", "description", "recipeIngredient", "recipeInstructions",
			"prepTime|totalTime", "cookTime|totalTime", "recipeYield", "recipeCategory", "recipeCuisine",
			"nutrition.calories", "keywords", "aggregateRating", "video",
		},
	},
	{
		id: "software_app", name: "Software app", types: []string{"SoftwareApplication"}, docs: docs + "software-app",
		required:    []string{"name", "offers.price", "aggregateRating|review"},
		recommended: []string{"applicationCategory", "operatingSystem"},
	},
	{
		id: "site_name", name: "Site name", types: []string{"WebSite"},
		docs:     "https://developers.google.com/search/docs/appearance/site-names",
		required: []string{"name", "url"}, recommended: []string{"alternateName"},
	},
	{
		id: "speakable", name: "Speakable", types: []string{"SpeakableSpecification"}, docs: docs + "speakable",
		required: []string{"cssSelector|xpath"},
	},
	{
		id: "video", name: "Video", types: []string{"VideoObject"}, docs: docs + "video",
		required: []string{"name", "thumbnailUrl|thumbnail", "uploadDate"}, recommended: []string{
			"description",
			"duration", "contentUrl|embedUrl",
		},
	},
	{
		id: "review_snippet", name: "Review snippet", types: []string{"Review"}, but: []string{"ClaimReview"},
		docs:        docs + "review-snippet",
		required:    []string{"author", "reviewRating.ratingValue", "itemReviewed"},
		recommended: []string{"datePublished"},
	},
	{
		id: "aggregate_rating", name: "Review snippet (aggregate)", types: []string{"AggregateRating"},
		docs:     docs + "review-snippet",
		required: []string{"ratingValue", "ratingCount|reviewCount", "itemReviewed"},
	},
}

// retirement is a rich result that Google Search no longer shows. The markup
// stays valid vocabulary.
type retirement struct {
	name  string
	types []string // all of them together
	with  string   // a path that must be there; empty: none
	since string
}

var retired = []retirement{
	{name: "How-to", types: []string{"HowTo"}, since: "2023-09-13"},
	{
		name: "Sitelinks search box", types: []string{"WebSite"}, with: "potentialAction.query-input",
		since: "2024-11-21",
	},
	{name: "Book actions", types: []string{"Book"}, with: "potentialAction", since: "2025-06-12"},
	{name: "Course info", types: []string{"Course"}, with: "hasCourseInstance", since: "2025-06-12"},
	{name: "Fact check (ClaimReview)", types: []string{"ClaimReview"}, since: "2025-06-12"},
	{name: "Estimated salary", types: []string{"Occupation"}, with: "estimatedSalary", since: "2025-06-12"},
	{name: "Learning video", types: []string{"VideoObject", "LearningResource"}, since: "2025-06-12"},
	{name: "Special announcement", types: []string{"SpecialAnnouncement"}, since: "2025-06-12"},
	{name: "Vehicle listing", types: []string{"Vehicle"}, with: "offers", since: "2025-06-12"},
	{name: "FAQ", types: []string{"FAQPage"}, since: "2026-05-07"},
}
