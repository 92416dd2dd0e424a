/** Proreus as one of the compared programs: `node proreus.ts PORT CERT KEY`. */
import { defineWebhook } from '../../src/index.ts'
import { app } from '../app.ts'
import { serveProreus } from './proreus-server.ts'

await serveProreus({ webhooks: [defineWebhook(app, {})] })
