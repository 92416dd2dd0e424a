/**
 * A buyer of the shop. It places orders by the name of the Service, each one until it is acknowledged. Then it prints a line, `acknowledged
 * ID VERSION`. Arguments: the prefix of the ids and the number of orders.
 */
import { setTimeout as delay } from 'node:timers/promises'

const [prefix = '', count = ''] = process.argv.slice(2)
/** Times in milliseconds: the limit of a request, and the pause after one that has failed. */
const [requestMs, pauseMs] = [3_000, 100]

for (let number = 0; number < Number(count); number += 1) {
  const id = `${prefix}-${number}`
  let version: string | undefined
  while (version === undefined) version = await order(id)
  process.stdout.write(`acknowledged ${id} ${version}\n`)
}

/** Resolves with the version of the web server; with undefined when the order was not acknowledged. */
async function order(id: string): Promise<string | undefined> {
  try {
    // A new connection leads to any of the web servers.
    const headers = { connection: 'close' }
    const response = await fetch(`http://web/orders/${id}`, { method: 'POST', headers, signal: AbortSignal.timeout(requestMs) })
    const version = await response.text()
    if (response.status === 201) return version
  } catch {
    // The web server is being replaced.
  }
  await delay(pauseMs)
  return undefined
}
