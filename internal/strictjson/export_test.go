package strictjson

// General is [Marshal] without plans.
var General = general
