/** The main module of the process of the agent, which runs in the network namespace of the cluster. */
import type { ParentMessage, StartMessage } from './messages.ts'
import { NetworkAgent } from './network-agent.ts'
import { ParentChannel } from './parent-channel.ts'

const channel = new ParentChannel()
let agent: NetworkAgent | undefined

// The channel closes when the parent process closes it, or when the parent process ends for any reason.
process.on('disconnect', () => process.exit())
// A service manager that stops Proreus can send a signal to each process of Proreus (systemd.kill(5): KillMode). Pods need the network
// until the parent process has stopped them, so this process ignores the signals.
for (const signal of ['SIGINT', 'SIGHUP', 'SIGTERM'] as const) process.on(signal, () => undefined)
process.on('message', (message: ParentMessage) => {
  if (message.type === 'start') void start(message)
  else agent?.receive(message)
})

async function start(message: StartMessage): Promise<void> {
  try {
    agent = await NetworkAgent.start(message, channel)
    channel.send({ type: 'ready' })
  } catch (error) {
    channel.send({ type: 'failed', reason: error instanceof Error ? error.message : String(error) })
  }
}
