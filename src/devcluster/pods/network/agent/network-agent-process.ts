/** The main module of the process of the agent, which runs in the network namespace of the cluster. */
import type { ParentMessage, StartMessage } from './messages.ts'
import { NetworkAgent } from './network-agent.ts'
import { ParentChannel } from './parent-channel.ts'

const channel = new ParentChannel()
let agent: NetworkAgent | undefined

// The channel is closed when the parent process ends, for any reason.
process.on('disconnect', () => process.exit())
// Ctrl-C in the terminal, and the end of the terminal or of a service, reach this process, too. Pods need the network until the parent has
// stopped them.
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
