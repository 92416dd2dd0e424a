/**
 * The main module of the supervisor, the process that starts the processes of containers. When the process of the driver ends for any
 * reason, even by SIGKILL, the operating system closes the channel to the driver. The supervisor then ends all processes of the containers.
 */
import { once } from 'node:events'
import { messageOf } from '../../../api/errors.ts'
import type { DriverMessage, SupervisorMessage } from './messages.ts'
import { Supervision } from './supervision.ts'

const [stateFolder = ''] = process.argv.slice(2)

/** Sends a message to the driver. Resolves when the message has been sent, or when the driver has ended. */
function send(message: SupervisorMessage): Promise<void> {
  return new Promise((resolve) => {
    if (process.connected && process.send !== undefined) process.send(message, undefined, undefined, () => resolve())
    else resolve()
  })
}

// A service manager may send these signals to all processes of a service. The supervisor must not end before the driver.
for (const signal of ['SIGHUP', 'SIGINT', 'SIGTERM'] as const) process.on(signal, () => undefined)
// Without this line, Node.js would add this variable to the environment of each container, because `spawn` copies the variable even if
// `env` is given.
delete process.env['NODE_V8_COVERAGE']

const disconnected = once(process, 'disconnect')
try {
  const supervision = new Supervision({ stateFolder, send: (message) => void send(message) })
  await supervision.endLeftovers()
  process.on('message', (message) => supervision.receive(message as DriverMessage))
  void send({ type: 'ready' })
  await disconnected
  await supervision.close()
} catch (error) {
  await send({ type: 'refused', message: messageOf(error) })
}
process.exit()
