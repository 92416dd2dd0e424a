/** The web server of the shop. It passes orders on to the store, and answers with its version. */
import { createServer } from 'node:http'

const version = process.env.VERSION
/** Time limit in milliseconds. A store that is gone does not answer. */
const storeMs = 2_000

const server = createServer((request, response) => {
  if (request.method === 'GET') response.end(version)
  else void store(request.url ?? '').then((status) => response.writeHead(status).end(version))
})
server.listen(8080)
process.on('SIGTERM', () => process.exit())

/** Resolves with the status of the store's answer; with 503 without an answer. */
async function store(path: string): Promise<number> {
  try {
    return (await fetch(`http://store:8080${path}`, { method: 'POST', signal: AbortSignal.timeout(storeMs) })).status
  } catch {
    return 503
  }
}
