package main

const postgresName = "postgres"

func measurePostgres(plan) (*finding, error) { return nil, errSkipped }
