package storehttp

const typeJSON = "application/json"
