// The keys of this service will be declared here.
