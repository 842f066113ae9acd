import { DefaultNamingStrategy } from 'typeorm';

/** camelCase in TypeScript, snake_case in SQL. */
export class SnakeNaming extends DefaultNamingStrategy {
  override columnName(propertyName: string, customName: string | undefined): string {
    return customName ?? propertyName.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  }
}
