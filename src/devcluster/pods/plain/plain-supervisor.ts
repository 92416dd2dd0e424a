/**
 * The main module of the supervisor, the process that starts the processes of containers. The system closes the channel to the driver when
 * the driver's process ends for any reason, also by SIGKILL. The supervisor then ends all processes of the containers.
 */
import { once } from 'node:events'
import { messageOf } from '../../../api/errors.ts'
import type { DriverMessage, SupervisorMessage } from './messages.ts'
import { Supervision } from './supervision.ts'

const [stateFolder = ''] = process.argv.slice(2)

/** Resolves when the message has left the process, or the driver has ended. */
function send(message: SupervisorMessage): Promise<void> {
  return new Promise((resolve) => {
    if (process.connected && process.send !== undefined) process.send(message, undefined, undefined, () => resolve())
    else resolve()
  })
}

// These signals may be sent to all processes of a service. The supervisor ends after the driver, not before it.
for (const signal of ['SIGHUP', 'SIGINT', 'SIGTERM'] as const) process.on(signal, () => undefined)
// Node.js adds this variable to the environment of each process that it starts, even when the environment is given.
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
