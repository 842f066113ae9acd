import { ApiProperty } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { ArrayMaxSize, IsArray, IsNotEmpty, IsString, IsUUID, MaxLength } from 'class-validator';

/** In a body, null means absent. */
export function OrDefault<Value>(make: () => Value): PropertyDecorator {
  return Transform(({ value }: { value: unknown }) => value ?? make());
}

/** A list of names: tools, skills, events. */
export const Names = (): PropertyDecorator => (target, property) => {
  IsArray()(target, property);
  ArrayMaxSize(10_000)(target, property);
  IsString({ each: true })(target, property);
  IsNotEmpty({ each: true })(target, property);
  MaxLength(500, { each: true })(target, property);
};

/** The id of a turn: a UUID, in lower case from here on. */
export const TurnId = (): PropertyDecorator => (target, property) => {
  Transform(({ value }: { value: unknown }) => (typeof value === 'string' ? value.toLowerCase() : value))(
    target,
    property,
  );
  IsUUID('all')(target, property);
  ApiProperty({ format: 'uuid' })(target, property);
};
