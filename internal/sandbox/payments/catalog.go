package payments

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"time"

	"ace/internal/foundation/typeid"
	"ace/internal/sandbox/object"
	"ace/internal/sandbox/rowstore"
)

// ProductParams makes or changes a product. Nil fields are left as they are;
// an empty text takes a value away.
type ProductParams struct {
	ID                         string // only when making; empty: a new one
	Name, Description, TaxCode *string
	URL, UnitLabel, Descriptor *string
	DefaultPrice               *string
	Active, Shippable          *bool
	Images, Features           []string
	Metadata                   map[string]string // an empty value removes the key
	prefix                     string            // of parameter names in errors
}

var productID = regexp.MustCompile(`^[A-Za-z0-9_-]{1,100}$`)

// CreateProduct makes a product.
func (tx *Tx) CreateProduct(ctx context.Context, in ProductParams) (*object.Product, error) {
	if in.Name == nil {
		return nil, object.Missing(in.prefix + "name")
	}
	if in.ID == "" {
		in.ID = typeid.New("prod_test")
	}
	if !productID.MatchString(in.ID) {
		return nil, object.Invalid("id", "", "A product id holds letters, digits, _ and -, at most 100 of them.")
	}
	if _, err := rowstore.Get(ctx, tx.tx, object.KindProduct, in.ID); err == nil {
		return nil, object.RefusedByState("id", "resource_already_exists", "Product already exists.")
	} else if !errors.Is(err, sql.ErrNoRows) {
		return nil, fmt.Errorf("looking for product %s: %w", in.ID, err)
	}
	o := &object.Product{
		ID: in.ID, Object: object.KindProduct, Active: true, Created: tx.now.Unix(), Images: []string{},
		Features: []string{},
		Metadata: map[string]string{}, Type: "service",
	}
	if err := in.apply(o, tx.now); err != nil {
		return nil, err
	}
	if err := tx.insert(ctx, o); err != nil {
		return nil, err
	}
	return o, tx.emit(ctx, "product.created", o)
}

// UpdateProduct changes a product.
func (tx *Tx) UpdateProduct(ctx context.Context, id string, in ProductParams) (*object.Product, error) {
	o, err := load[object.Product](ctx, tx.View, id, "id")
	if err != nil {
		return nil, err
	}
	if in.DefaultPrice != nil && *in.DefaultPrice != "" {
		price, err := load[object.Price](ctx, tx.View, *in.DefaultPrice, "default_price")
		if err != nil {
			return nil, err
		}
		if price.Product != id {
			return nil, object.Invalid("default_price", "", "Price %s belongs to another product.", price.ID)
		}
	}
	if err := in.apply(o, tx.now); err != nil {
		return nil, err
	}
	if err := tx.update(ctx, o); err != nil {
		return nil, err
	}
	return o, tx.emit(ctx, "product.updated", o)
}

func (in ProductParams) apply(o *object.Product, now time.Time) error {
	if in.Name != nil {
		if *in.Name == "" || len(*in.Name) > 5000 {
			return object.Invalid(in.prefix+"name", "parameter_invalid_empty",
				"A product needs a name of at most 5000 characters.")
		}
		o.Name = *in.Name
	}
	if in.URL != nil && *in.URL != "" && !webURL(*in.URL) {
		return object.Invalid(in.prefix+"url", "url_invalid", "Not a valid URL")
	}
	if len(in.Images) > 8 {
		return object.Invalid(in.prefix+"images", "", "A product has at most 8 images.")
	}
	setText(&o.Description, in.Description)
	setText(&o.TaxCode, in.TaxCode)
	setText(&o.URL, in.URL)
	setText(&o.UnitLabel, in.UnitLabel)
	setText(&o.Descriptor, in.Descriptor)
	setText(&o.Default, in.DefaultPrice)
	if in.Active != nil {
		o.Active = *in.Active
	}
	if in.Shippable != nil {
		o.Shippable = in.Shippable
	}
	if in.Images != nil {
		o.Images = in.Images
	}
	o.Updated = now.Unix()
	return mergeMetadata(&o.Metadata, in.Metadata, in.prefix+"metadata")
}

// PriceParams makes or changes a price. Nil fields are left as they are.
type PriceParams struct {
	Currency, Product                string
	ProductData                      *ProductParams
	Amount                           *int64
	Nickname, LookupKey, TaxBehavior *string
	TransferLookupKey                bool
	Active                           *bool
	Metadata                         map[string]string
	Recurring                        *object.Recurring
}

// CreatePrice makes a price, and its product too when the params describe one.
func (tx *Tx) CreatePrice(ctx context.Context, in PriceParams) (*object.Price, error) {
	o := &object.Price{
		ID: typeid.New("price_test"), Object: object.KindPrice, Active: true, Scheme: object.BillingSchemeUnit,
		Created:  tx.now.Unix(),
		Currency: in.Currency, Metadata: map[string]string{}, Recurring: in.Recurring, TaxBehavior: "unspecified",
		Type: "one_time",
	}
	return o, tx.createPrice(ctx, o, in)
}

func (tx *Tx) createPrice(ctx context.Context, o *object.Price, in PriceParams) error {
	if err := tx.checkPrice(in); err != nil {
		return err
	}
	product, err := tx.productOf(ctx, in)
	if err != nil {
		return err
	}
	o.Product, o.Amount, o.AmountText = product, *in.Amount, strconv.FormatInt(*in.Amount, 10)
	if in.Recurring != nil {
		o.Type = "recurring"
	}
	if err := tx.applyPrice(ctx, o, in); err != nil {
		return err
	}
	if err := tx.insert(ctx, o); err != nil {
		return err
	}
	return tx.emit(ctx, "price.created", o)
}

func (tx *Tx) checkPrice(in PriceParams) error {
	if in.Currency == "" {
		return object.Missing("currency")
	}
	if !object.KnownCurrency(in.Currency) {
		return object.Invalid("currency", "", "Invalid currency: %s. The processor takes ISO 4217 codes in lower case.",
			in.Currency)
	}
	if in.Amount == nil {
		return object.Missing("unit_amount")
	}
	if err := object.CheckAmount("unit_amount", in.Currency, *in.Amount); err != nil {
		return err
	}
	r := in.Recurring
	if r == nil {
		return nil
	}
	longest := map[string]int64{"day": 1095, "week": 156, "month": 36, "year": 3}[r.Interval] // three years
	switch {
	case longest == 0:
		return object.Invalid("recurring[interval]",
			"", "Invalid recurring[interval]: must be one of day, week, month, or year")
	case r.IntervalCount < 1 || r.IntervalCount > longest:
		return object.Invalid("recurring[interval_count]", "", "A price is billed at least once in three years.")
	case r.UsageType != "licensed":
		return object.Invalid("recurring[usage_type]", "", "The sandbox bills licensed use only, not metered use.")
	case r.TrialDays != nil && (*r.TrialDays < 1 || *r.TrialDays > 730):
		return object.Invalid("recurring[trial_period_days]", "", "A trial lasts 1 to 730 days.")
	}
	return nil
}

func (tx *Tx) productOf(ctx context.Context, in PriceParams) (string, error) {
	switch {
	case in.Product != "" && in.ProductData != nil:
		return "", object.Invalid("product_data",
			"", "You may only specify one of these parameters: product, product_data.")
	case in.ProductData != nil:
		in.ProductData.prefix = "product_data."
		product, err := tx.CreateProduct(ctx, *in.ProductData)
		if err != nil {
			return "", err
		}
		return product.ID, nil
	case in.Product == "":
		return "", object.Missing("product")
	default:
		_, err := load[object.Product](ctx, tx.View, in.Product, "product")
		return in.Product, err
	}
}

// UpdatePrice changes what may change of a price: never its amount.
func (tx *Tx) UpdatePrice(ctx context.Context, id string, in PriceParams) (*object.Price, error) {
	o, err := load[object.Price](ctx, tx.View, id, "price")
	if err != nil {
		return nil, err
	}
	if in.TaxBehavior != nil && o.TaxBehavior != "unspecified" && *in.TaxBehavior != o.TaxBehavior {
		return nil, object.RefusedByState("tax_behavior", "", "The tax behavior of a price can be set only once.")
	}
	if err := tx.applyPrice(ctx, o, in); err != nil {
		return nil, err
	}
	if err := tx.update(ctx, o); err != nil {
		return nil, err
	}
	return o, tx.emit(ctx, "price.updated", o)
}

func (tx *Tx) applyPrice(ctx context.Context, o *object.Price, in PriceParams) error {
	if in.TaxBehavior != nil {
		if !slices.Contains([]string{"inclusive", "exclusive", "unspecified"}, *in.TaxBehavior) {
			return object.Invalid("tax_behavior",
				"", "Invalid tax_behavior: must be one of inclusive, exclusive, or unspecified")
		}
		o.TaxBehavior = *in.TaxBehavior
	}
	if in.Active != nil {
		o.Active = *in.Active
	}
	setText(&o.Nickname, in.Nickname)
	if err := mergeMetadata(&o.Metadata, in.Metadata, "metadata"); err != nil {
		return err
	}
	return tx.applyLookupKey(ctx, o, in)
}

// applyLookupKey gives the price its key, and takes it from the price that
// has it when the params ask for that.
func (tx *Tx) applyLookupKey(ctx context.Context, o *object.Price, in PriceParams) error {
	if in.LookupKey == nil {
		return nil
	}
	if len(*in.LookupKey) > 200 {
		return object.Invalid("lookup_key", "parameter_invalid_string_empty",
			"A lookup key has at most 200 characters.")
	}
	setText(&o.LookupKey, in.LookupKey)
	if o.LookupKey == nil {
		return nil
	}
	r, err := rowstore.GetByKey(ctx, tx.tx, object.KindPrice, *o.LookupKey)
	if errors.Is(err, sql.ErrNoRows) || r.Id == o.ID {
		return nil
	}
	if err != nil {
		return fmt.Errorf("looking for lookup key %s: %w", *o.LookupKey, err)
	}
	if !in.TransferLookupKey {
		return object.RefusedByState("lookup_key", "resource_already_exists",
			"A price (`%s`) already uses that lookup key. Send transfer_lookup_key=true to move the key.", r.Id)
	}
	holder, err := decode[object.Price](r)
	if err != nil {
		return err
	}
	holder.LookupKey = nil
	if err := tx.update(ctx, holder); err != nil {
		return err
	}
	return tx.emit(ctx, "price.updated", holder)
}

func setText(to **string, v *string) {
	switch {
	case v == nil:
	case *v == "":
		*to = nil
	default:
		*to = v
	}
}

// Limits of metadata (https://docs.stripe.com/metadata).
const (
	maxMetadata      = 50
	maxMetadataKey   = 40
	maxMetadataValue = 500
)

func mergeMetadata(to *map[string]string, from map[string]string, param string) error {
	merged := maps.Clone(*to)
	if merged == nil {
		merged = map[string]string{}
	}
	for k, v := range from {
		switch {
		case len([]rune(k)) > maxMetadataKey:
			return object.Invalid(param, "", "Metadata keys can have up to %d characters.", maxMetadataKey)
		case len([]rune(v)) > maxMetadataValue:
			return object.Invalid(param+"["+k+"]", "", "Metadata values can have up to %d characters.",
				maxMetadataValue)
		case v == "":
			delete(merged, k)
		default:
			merged[k] = v
		}
	}
	if len(merged) > maxMetadata {
		return object.Invalid(param, "", "You can set up to %d metadata keys.", maxMetadata)
	}
	*to = merged
	return nil
}

// webURL reports whether a browser could be sent to s.
func webURL(s string) bool {
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && len(s) <= 5000
}
