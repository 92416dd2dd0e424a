/** The webhook server of Proreus in the comparison. The command is `node proreus.ts PORT CERT KEY`. */
import { defineWebhook } from '../../src/index.ts'
import { app } from '../app.ts'
import { serveProreus } from './proreus-server.ts'

await serveProreus({ webhooks: [defineWebhook(app, {})] })
