import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, SwaggerModule, type OpenAPIObject } from '@nestjs/swagger';
import { describeProblems } from './openapi.problems.js';
import { refineNumbersAndDefaults } from './openapi.refinements.js';

/** The contract as OpenAPI, read off the controllers and DTO classes. */
export function openApiDocument(app: INestApplication): OpenAPIObject {
  const config = new DocumentBuilder()
    .setTitle('agent-learning')
    .setDescription('Turns finished agent turns into durable, retrievable lessons.')
    .setVersion('1')
    .addBearerAuth({ type: 'http', scheme: 'bearer', bearerFormat: 'API key' })
    .addSecurityRequirements('bearer')
    .build();
  const document = SwaggerModule.createDocument(app, config, {
    operationIdFactory: (controller, method) => `${controller.replace(/Controller$/, '')}.${method}`,
  });
  refineNumbersAndDefaults(document);
  describeProblems(document);
  return document;
}

export function serveOpenApi(app: INestApplication): void {
  SwaggerModule.setup('docs', app, () => openApiDocument(app), { jsonDocumentUrl: 'openapi.json' });
}
