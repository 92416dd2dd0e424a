/** The store of the shop. It writes the id of an order (`POST /orders/ID`) to a file. It responds with 201 when the id is on the disk. */
import { fsyncSync, openSync, writeSync } from 'node:fs'
import { createServer } from 'node:http'

const file = openSync('/data/orders', 'a')

const server = createServer((request, response) => {
  if (request.method === 'POST') {
    writeSync(file, `${request.url?.split('/').at(-1)}\n`)
    fsyncSync(file)
    response.writeHead(201)
  }
  response.end()
})
server.listen(8080)
process.on('SIGTERM', () => process.exit())
