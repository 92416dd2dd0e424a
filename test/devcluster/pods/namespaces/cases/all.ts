/** All cases of the driver. Their process is alone in its PID namespace, with the shell that started it. */
import './processes.ts'
import './files.ts'
import './without-overlay.ts'
import './networks.ts'
import './ends.ts'
import './capabilities.ts'
