package payform

import (
	"regexp"
	"strings"
)

// Country is a choice of the address forms.
type Country struct{ Code, Name string }

// countryTable lists ISO 3166-1 codes and the names that people look for.
const countryTable = `AD Andorra
AE United Arab Emirates
AG Antigua and Barbuda
AL Albania
AM Armenia
AO Angola
AR Argentina
AT Austria
AU Australia
AZ Azerbaijan
BA Bosnia and Herzegovina
BB Barbados
BD Bangladesh
BE Belgium
BF Burkina Faso
BG Bulgaria
BH Bahrain
BI Burundi
BJ Benin
BN Brunei
BO Bolivia
BR Brazil
BS Bahamas
BT Bhutan
BW Botswana
BZ Belize
CA Canada
CD Congo (Kinshasa)
CF Central African Republic
CG Congo (Brazzaville)
CH Switzerland
CI Côte d’Ivoire
CL Chile
CM Cameroon
CN China
CO Colombia
CR Costa Rica
CV Cape Verde
CY Cyprus
CZ Czechia
DE Germany
DJ Djibouti
DK Denmark
DM Dominica
DO Dominican Republic
DZ Algeria
EC Ecuador
EE Estonia
EG Egypt
ES Spain
ET Ethiopia
FI Finland
FJ Fiji
FR France
GA Gabon
GB United Kingdom
GD Grenada
GE Georgia
GH Ghana
GM Gambia
GN Guinea
GR Greece
GT Guatemala
GY Guyana
HK Hong Kong
HN Honduras
HR Croatia
HT Haiti
HU Hungary
ID Indonesia
IE Ireland
IL Israel
IN India
IQ Iraq
IS Iceland
IT Italy
JM Jamaica
JO Jordan
JP Japan
KE Kenya
KG Kyrgyzstan
KH Cambodia
KR South Korea
KW Kuwait
KZ Kazakhstan
LA Laos
LB Lebanon
LI Liechtenstein
LK Sri Lanka
LS Lesotho
LT Lithuania
LU Luxembourg
LV Latvia
LY Libya
MA Morocco
MC Monaco
MD Moldova
ME Montenegro
MG Madagascar
MK North Macedonia
ML Mali
MN Mongolia
MO Macao
MR Mauritania
MT Malta
MU Mauritius
MV Maldives
MW Malawi
MX Mexico
MY Malaysia
MZ Mozambique
NA Namibia
NE Niger
NG Nigeria
NI Nicaragua
NL Netherlands
NO Norway
NP Nepal
NZ New Zealand
OM Oman
PA Panama
PE Peru
PG Papua New Guinea
PH Philippines
PK Pakistan
PL Poland
PR Puerto Rico
PT Portugal
PY Paraguay
QA Qatar
RO Romania
RS Serbia
RW Rwanda
SA Saudi Arabia
SC Seychelles
SE Sweden
SG Singapore
SI Slovenia
SK Slovakia
SL Sierra Leone
SM San Marino
SN Senegal
SR Suriname
SV El Salvador
TD Chad
TG Togo
TH Thailand
TJ Tajikistan
TL Timor-Leste
TN Tunisia
TO Tonga
TR Turkey
TT Trinidad and Tobago
TW Taiwan
TZ Tanzania
UA Ukraine
UG Uganda
US United States
UY Uruguay
UZ Uzbekistan
VC Saint Vincent and the Grenadines
VN Vietnam
VU Vanuatu
WS Samoa
XK Kosovo
YE Yemen
ZA South Africa
ZM Zambia
ZW Zimbabwe`

// Countries lists the countries of the address forms by code.
func Countries() []Country {
	lines := strings.Split(countryTable, "\n")
	out := make([]Country, 0, len(lines))
	for _, line := range lines {
		code, name, _ := strings.Cut(line, " ")
		out = append(out, Country{code, name})
	}
	return out
}

var countryCode = regexp.MustCompile(`^[A-Z]{2}$`)

// KnownCountry reports whether code is one of Countries.
func KnownCountry(code string) bool {
	return countryCode.MatchString(code) && strings.Contains("\n"+countryTable, "\n"+code+" ")
}
