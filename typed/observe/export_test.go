package observe

// SpareRecords is how many objects that have left the store may be on record.
const SpareRecords = spareRecords
