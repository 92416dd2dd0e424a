#!/usr/bin/env node
import { createServer } from 'node:http'
import { hostname } from 'node:os'

const server = createServer((request, response) => {
  process.stdout.write(`${request.method} ${request.url}\n`)
  response.end(`${process.env['GREETING']} from ${hostname()}\n`)
})
server.listen(Number(process.env['PORT']), () => process.stdout.write('listening\n'))
process.on('SIGTERM', () => server.close())
