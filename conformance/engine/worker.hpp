// The process that opens the plug-in and runs cases for its parent; the parent never opens it.
//
// Parent -> worker: {"open": {manifest, options}}, then any number of {"introduce": true}, {"probe": true} or
// {"case": id, "seed", "facts", "limits_ms"}. Worker -> parent: {"opened"} or {"refused": why}; {"introduction"};
// {"healthy": bool}; {"finding"} as they come and {"end": record, metrics, meters}. The parent closes the channel to
// end it.
//
// One of several ranks is told {"rank", "ranks"} besides, or asked to {"meet"} the others. In between it says
// {"exchange": hex} and hears {"exchanged": [hex, ...]}, or {"stop_ms"} and hears {"continued"} afterwards; an {"end"}
// that "dies" is its last word.
#pragma once

namespace hal::conformance {

// Speaks on worker_channel_fd. Never returns: static destructors of a plug-in are none of a case's business.
[[noreturn]] void worker_main();

// The word on the command line that makes this program a worker.
inline constexpr const char* worker_word = "worker";

}  // namespace hal::conformance
