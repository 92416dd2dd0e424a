import { loadConnection, Metrics, run } from 'proreus'
import { Counter } from 'prom-client'
import { operator } from './hello.ts'

const metrics = new Metrics()
metrics.collectProcess()
/** A reconciler increments this counter with `greetings.inc({ language: 'en' })`. */
export const greetings = new Counter({
  name: 'hello_greetings_total',
  help: 'Total number of greetings by language',
  labelNames: ['language'],
  registers: [metrics.registry],
})

await run([operator], { connection: await loadConnection({ env: process.env }), metrics })
